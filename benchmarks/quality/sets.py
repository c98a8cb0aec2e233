"""The sets of queries: where their vaults come from, and what counts as found."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quality.queries import Query, read_queries

XQUAD_LANGUAGES = ("en", "es", "zh", "ru", "vi")
_QUERIES = Path(__file__).parent.parent / "queries"


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

    @property
    def by_note(self) -> bool:
        """Whether notes are ranked, not chunks."""
        return not self.questions


def xquad(data: Path, work: Path, language: str) -> QuerySet:
    """XQuAD (Artetxe, Ruder and Yogatama 2020): a vault of one paragraph a note, question to paragraph."""
    told = json.loads((data / f"xquad.{language}.json").read_text("utf-8"))
    paragraphs = [one for article in told["data"] for one in article["paragraphs"]]
    notes = {f"p{number:03}.md": one["context"] for number, one in enumerate(paragraphs)}
    vault = written(work / f"xquad-{language}", notes)
    queries = [
        Query("question", asked["question"], {path: 1})
        for path, one in zip(notes, paragraphs, strict=True)
        for asked in one["qas"]
    ]
    return QuerySet(f"XQuAD {language}", vault, tuple(queries))


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
    """A vault with the queries of `queries/<name>.txt`."""
    queries = read_queries(_QUERIES / f"{name}.txt", _paths(vault))
    return QuerySet(name, vault, tuple(queries), has_links=has_links)


def written(folder: Path, notes: dict[str, str]) -> Path:
    """The folder with just these notes; a file that is there with the same text is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        file = folder / name
        data = text.encode()
        if not file.exists() or file.read_bytes() != data:
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
