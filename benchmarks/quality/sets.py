"""The sets of queries: where their vaults come from, and what counts as found."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quality.queries import Query, read_queries
from quality.titles import title_queries
from quality.written import QUERIES, language_notes, languages, library_notes, library_queries

XQUAD_LANGUAGES = ("en", "es", "zh", "ru", "vi")
_TITLES_OF_LARGE = 150
_BODY = "Not much to say yet.\n"
_ALL_NOTES = 1_000


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a note, in characters of its text."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question with the pieces of text that answer it; every chunk that holds a part of one is relevant."""

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class QuerySet:
    """A vault and what is asked of it: judged notes, or (`questions`) judged pieces of notes."""

    name: str
    vault: Path
    queries: tuple[Query, ...] = ()
    questions: tuple[SpanQuestion, ...] = ()
    has_links: bool = False
    opens_at_start: bool = False

    @property
    def by_note(self) -> bool:
        """Whether notes are ranked, not chunks."""
        return not self.questions


def xquad(data: Path, work: Path, language: str, asked_in: str = "") -> QuerySet:
    """XQuAD (Artetxe, Ruder and Yogatama 2020): a vault of one paragraph a note, question to paragraph.

    With `asked_in` the questions are in another language than the paragraphs.
    """
    notes = dict(
        zip(xquad_paths(), (one["context"] for one in xquad_paragraphs(data, language)), strict=True)
    )
    vault = written(work / f"xquad-{language}", notes)
    paragraphs = xquad_paragraphs(data, asked_in or language)
    queries = [
        Query("question", asked["question"], {path: 1})
        for path, one in zip(notes, paragraphs, strict=True)
        for asked in one["qas"]
    ]
    name = f"XQuAD {asked_in}>{language}" if asked_in else f"XQuAD {language}"
    return QuerySet(name, vault, tuple(queries))


def xquad_paragraphs(data: Path, language: str) -> list[dict[str, Any]]:
    """The paragraphs (`context`) with their questions (`qas`), in the same order in every language."""
    return [one for article in xquad_articles(data, language) for one in article]


def xquad_articles(data: Path, language: str) -> list[list[dict[str, Any]]]:
    """The paragraphs of each article."""
    told = json.loads((data / f"xquad.{language}.json").read_text("utf-8"))
    return [article["paragraphs"] for article in told["data"]]


def xquad_paths() -> list[str]:
    """The notes of an XQuAD vault."""
    return [f"p{number:03}.md" for number in range(240)]


def chunking(data: Path, work: Path) -> QuerySet:
    """Questions on whole corpora (Chroma, 2024), each corpus a note, judged by chunk."""
    corpora = {file.name: file.read_text("utf-8") for file in sorted(data.glob("*.md"))}
    vault = written(work / "chunking", corpora)
    with (data / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = [
        SpanQuestion(
            row["question"],
            tuple(
                Span(f"{row['corpus_id']}.md", one["start_index"], one["end_index"])
                for one in json.loads(row["references"])
            ),
        )
        for row in rows
    ]
    return QuerySet("chunking", vault, questions=tuple(questions))


def judged(name: str, vault: Path, *, has_links: bool = False) -> QuerySet:
    """A vault with those queries of `queries/<name>.txt` that it answers."""
    queries = all_queries(QUERIES / f"{name}.txt", vault)
    return QuerySet(name, vault, tuple(one for one in queries if one.grades), has_links=has_links)


def all_queries(file: Path, vault: Path) -> list[Query]:
    """The queries of a file over a vault, those without an answer too."""
    return read_queries(file, _paths(vault))


def titles(name: str, vault: Path, most: int) -> QuerySet:
    """The names of the vault's notes, or of a sample of so many."""
    return QuerySet(name, vault, title_queries(vault, most), has_links=True, opens_at_start=True)


def properties(work: Path, body: str = "") -> QuerySet:
    """A library kept in frontmatter, with empty bodies or with a body that says nothing of the values."""
    name = "properties with bodies" if body else "properties"
    notes = {path: text + body for path, text in library_notes().items()}
    return QuerySet(name, written(work / name.replace(" ", "-"), notes), library_queries())


def small(work: Path, language: str) -> QuerySet:
    """Fifteen notes or so in one language, with a question for each."""
    notes, queries = language_notes(language)
    return QuerySet(f"small {language}", written(work / f"small-{language}", notes), queries)


def mixed(work: Path) -> QuerySet:
    """The notes of all languages in one vault, a folder each; a query's kind is its language."""
    together: dict[str, str] = {}
    asked: list[Query] = []
    for language in languages():
        notes, queries = language_notes(language)
        together |= {f"{language}/{path}": text for path, text in notes.items()}
        asked += [
            Query(language, one.text, {f"{language}/{path}": grade for path, grade in one.grades.items()})
            for one in queries
        ]
    return QuerySet("mixed languages", written(work / "mixed-languages", together), tuple(asked))


def all_sets(
    data: Path, large: Path | None, work: Path, collections: Path | None = None
) -> Iterator[QuerySet]:
    """All sets, those over one vault behind each other; without `large` those over it are missing. Of
    `collections` each folder is a vault whose queries are in `queries/collections`."""
    bench, help_vault = data / "bench", data / "vaults" / "obsidian-help"
    for language in XQUAD_LANGUAGES:
        yield xquad(bench / "xquad", work, language)
    for language in XQUAD_LANGUAGES[1:]:
        yield xquad(bench / "xquad", work, "en", asked_in=language)
        yield xquad(bench / "xquad", work, language, asked_in="en")
    yield chunking(bench / "chunking", work)
    yield judged("obsidian-help", help_vault, has_links=True)
    yield titles("titles obsidian-help", help_vault, _ALL_NOTES)
    yield properties(work)
    yield properties(work, body=_BODY)
    for language in languages():
        yield small(work, language)
    yield mixed(work)
    if large is not None:
        yield judged("large", large, has_links=True)
        yield titles("titles large", large, _TITLES_OF_LARGE)
    for file in sorted((QUERIES / "collections").glob("*.txt")) if collections is not None else ():
        assert collections is not None
        vault = collections / file.stem
        if vault.is_dir():
            yield judged(f"collections/{file.stem}", vault, has_links=True)


def written(folder: Path, notes: Mapping[str, str]) -> Path:
    """The folder with just these notes; a file that is there with the same text is left alone."""
    for extra in set(folder.rglob("*.md")) - {folder / name for name in notes}:
        extra.unlink()
    for name, text in notes.items():
        file = folder / name
        data = text.encode()
        if not file.exists() or file.read_bytes() != data:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return folder


def _paths(vault: Path) -> list[str]:
    return sorted(file.relative_to(vault).as_posix() for file in vault.rglob("*.md"))


def overlapping(chunks: Iterable[tuple[str, str, int, int]], spans: Sequence[Span]) -> dict[str, int]:
    """Grade 1 for every chunk (id, path, start, end) that holds a part of a span."""
    return {
        chunk_id: 1
        for chunk_id, path, start, end in chunks
        if any(span.path == path and start < span.end and span.start < end for span in spans)
    }
