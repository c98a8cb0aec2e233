"""The queries that every engine is asked: words from notes, the same ones every time, and those of a file."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.store.catalog.reader import CatalogReader
from vault_indexer.text.query import analyze_query

_SEED = 5
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 12
"""Shorter notes give no query."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query as typed, and the index terms of its words: each word's exact form, no stems."""

    text: str
    words: tuple[str, ...]


def questions(catalog: CatalogReader, count: int, file: Path | None) -> list[Question]:
    """`count` queries from notes, then all of the file; each text once."""
    languages = catalog.languages().in_order
    texts = [*from_notes(catalog, count), *(from_file(file) if file else ())]
    return [Question(text, exact_words(text, languages)) for text in dict.fromkeys(texts)]


def from_notes(catalog: CatalogReader, count: int) -> list[str]:
    """Three to six words in a row, in lower case, from notes spread evenly over the vault.

    Lower case, and letters only: nothing of it is an operator of the query language.
    """
    chooser = random.Random(_SEED)
    notes = catalog.all_notes()
    step = max(1, len(notes) // max(1, count))
    spread = [note for first in range(step) for note in notes[first::step]]
    found: list[str] = []
    for note in spread:
        if len(found) == count:
            break
        words = _WORD.findall(catalog.text(note.note_id).lower())
        if len(words) >= _FEWEST_WORDS:
            size = chooser.randint(3, 6)
            start = chooser.randrange(len(words) - size)
            found.append(" ".join(words[start : start + size]))
    return found


def from_file(file: Path) -> Iterator[str]:
    """The queries of a file of judged queries (`quality/queries.py` has its form); the judgements are not
    looked at, so a part of the vault will do."""
    for line in file.read_text("utf-8").splitlines():
        if line and line[0] not in "# " and "|" in line and not line.startswith("shorthand "):
            yield line.partition("|")[2].strip()


def exact_words(text: str, languages: Sequence[str]) -> tuple[str, ...]:
    """What each word is in the keyword index, as written."""
    terms = analyze_query(text, languages)
    return tuple(dict.fromkeys(one.exact for term in terms for one in term.classes[:1]))
