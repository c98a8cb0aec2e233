"""Questions that a vault answers, and questions that it cannot: what a confidence has to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from quality.queries import Query, read_queries
from quality.sets import QuerySet, all_queries, judged, written, xquad_articles
from quality.written import QUERIES, language_notes, languages

NEAR, FAR, NOISE, FOREIGN = "near", "far", "noise", "foreign"
CONFIDENCE_LANGUAGES = ("en", "es", "zh", "ru")
MORE_LANGUAGES = ("th", "ar", "de", "el", "hi", "ro", "tr", "vi", "ja")
"""Measured where the data holds them: XQuAD has all but Japanese, the tests' data few."""


@dataclass(frozen=True, slots=True)
class ConfidenceSet:
    """A vault, what it answers, and what it cannot.

    Kind `near`: the paragraph that answers is not in the vault, others of its article are. `far`: nothing of
    the article is. `foreign`: as far, the questions in another language than the notes. `noise`: keyboard
    noise. `off topic`: what no note is about.
    """

    name: str
    kind: str
    vault: Path
    answerable: tuple[Query, ...]
    unanswerable: tuple[Query, ...]

    @property
    def query_set(self) -> QuerySet:
        """Both lists as one set, the answerable first."""
        return QuerySet(self.name, self.vault, (*self.answerable, *self.unanswerable))


def confidence_sets(data: Path, work: Path) -> Iterator[ConfidenceSet]:
    """Near, far and noise in four languages, questions in another language than the notes, and what the help
    vault does not hold."""
    without_answer = read_queries(QUERIES / "unanswerable.txt", ())
    noise = tuple(query for query in without_answer if query.kind == NOISE)
    xquad = data / "bench" / "xquad"
    for language in languages_in(xquad):
        yield _hidden(xquad, work, language, NEAR, is_kept_near)
        far = _hidden(xquad, work, language, FAR, is_kept_far)
        yield far
        yield ConfidenceSet(f"{NOISE} {language}", NOISE, far.vault, far.answerable, noise)
    first, *others = CONFIDENCE_LANGUAGES
    for asked_in, language in [pair for other in others for pair in ((first, other), (other, first))]:
        yield _asked_in(xquad, work, language, asked_in)
    answerable = judged("obsidian-help", data / "vaults" / "obsidian-help")
    for kind in dict.fromkeys(query.kind for query in without_answer):
        asked = tuple(query for query in without_answer if query.kind == kind)
        name = f"{kind} obsidian-help"
        yield ConfidenceSet(name, kind, answerable.vault, answerable.queries, asked)


def typed_sets(data: Path, work: Path, collections: Path | None) -> Iterator[QuerySet]:
    """What people type over each of the collections, over Obsidian's help, and over the notes of all
    languages in one vault, every other one hidden; a query without grades has no answer there."""
    for vault in sorted(collections.iterdir()) if collections is not None else ():
        file = QUERIES / "collections" / f"{vault.name}.txt"
        if file.exists():
            yield QuerySet(vault.name, vault, (*all_queries(file, vault), *_off_topic(vault.name[:2])))
    help_vault = data / "vaults" / "obsidian-help"
    asked = read_queries(QUERIES / "unanswerable.txt", ())
    judged_ones = all_queries(QUERIES / "obsidian-help.txt", help_vault)
    without_answer = [query for query in asked if query.kind != NOISE]
    yield QuerySet(help_vault.name, help_vault, (*judged_ones, *without_answer, *_off_topic("en")))
    yield _mixed_half(work)


def _off_topic(language: str) -> list[Query]:
    """What none of the vaults is about, in a language; nothing for most languages."""
    file = QUERIES / "off-topic" / f"{language}.txt"
    return read_queries(file, ()) if file.exists() else []


def _mixed_half(work: Path) -> QuerySet:
    kept: dict[str, str] = {}
    queries: list[Query] = []
    for language in languages():
        notes, asked = language_notes(language)
        shown = {path for at, path in enumerate(notes) if at % 2 == 0}
        kept |= {f"{language}/{path}": notes[path] for path in shown}
        for query in asked:
            grades = {f"{language}/{path}": 1 for path in query.grades if path in shown}
            queries.append(replace(query, grades=grades))
    return QuerySet("mixed", written(work / "mixed-half", kept), tuple(queries))


def unanswerable_sets(data: Path, work: Path) -> Iterator[QuerySet]:
    """Near, far and foreign of XQuAD, every sixth question by a hash of it."""
    for one in confidence_sets(data, work):
        if one.kind in (NEAR, FAR, FOREIGN) and one.vault.name != "obsidian-help":
            asked = (*one.answerable, *(replace(query, grades={}) for query in one.unanswerable))
            sixth = [query for query in asked if sha256(query.text.encode()).digest()[1] % 6 == 0]
            yield QuerySet(f"xquad {one.name}", one.vault, tuple(sixth))


def languages_in(xquad: Path) -> tuple[str, ...]:
    """The four languages that confidence is fitted with, and others that the data holds."""
    more = [one for one in MORE_LANGUAGES if (xquad / f"xquad.{one}.json").exists()]
    return (*CONFIDENCE_LANGUAGES, *more)


def is_kept_near(_article: int, paragraph: int) -> bool:
    """Every other paragraph of each article stays."""
    return paragraph % 2 == 0


def is_kept_far(article: int, _paragraph: int) -> bool:
    """Every other article stays."""
    return article % 2 == 0


def _hidden(
    data: Path, work: Path, language: str, kind: str, is_kept: Callable[[int, int], bool]
) -> ConfidenceSet:
    """XQuAD with the paragraphs that `is_kept` leaves."""
    notes: dict[str, str] = {}
    answerable: list[Query] = []
    unanswerable: list[Query] = []
    for path, kept, paragraph in numbered_paragraphs(data, language, is_kept):
        grades = {path: 1} if kept else {}
        if kept:
            notes[path] = paragraph["context"]
        questions = [Query("question", one["question"], grades) for one in paragraph["qas"]]
        (answerable if kept else unanswerable).extend(questions)
    vault = written(work / f"xquad-{kind}-{language}", notes)
    return ConfidenceSet(f"{kind} {language}", kind, vault, tuple(answerable), tuple(unanswerable))


def _asked_in(data: Path, work: Path, language: str, asked_in: str) -> ConfidenceSet:
    """Far in one language, its questions in another; they are in the same order in each."""
    far = _hidden(data, work, language, FAR, is_kept_far)
    asked = _hidden(data, work, asked_in, FAR, is_kept_far)
    answerable = [
        replace(own, text=other.text) for own, other in zip(far.answerable, asked.answerable, strict=True)
    ]
    name = f"{FOREIGN} {asked_in}>{language}"
    return ConfidenceSet(name, FOREIGN, far.vault, tuple(answerable), asked.unanswerable)


def numbered_paragraphs(
    data: Path, language: str, is_kept: Callable[[int, int], bool]
) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Of each paragraph of XQuAD the path of its note, whether `is_kept` (numbers of article and paragraph)
    leaves it, and itself."""
    number = 0
    for article, paragraphs in enumerate(xquad_articles(data, language)):
        for at, paragraph in enumerate(paragraphs):
            yield f"p{number:03}.md", is_kept(article, at), paragraph
            number += 1
