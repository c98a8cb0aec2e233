"""Conditions on the text of notes: the keyword index says which notes to read, the text decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from vault_indexer.model import CHUNK_KEY_BITS, note_id_of
from vault_indexer.search.matches import Matches, Span
from vault_indexer.search.query_ast import All, Either, Node, Not, Phrase, Scope, Word
from vault_indexer.search.scopes import HeadingRow, NoteText, Piece, pieces
from vault_indexer.search.text_pattern import TextPattern, text_pattern
from vault_indexer.store.catalog_reader import CatalogReader
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.terms import VARIANT_MARK

Ids = frozenset[int]

_WINDOW = 3
"""A phrase may run over the border between chunks, of so many at most."""

_TEXT_FIELDS = ("title", "aliases", "headers", "content")


def everything(catalog: CatalogReader) -> Ids:
    """The ids of all notes."""
    return frozenset(row[0] for row in catalog.rows("SELECT note_id FROM notes"))


def notes_with_word(snapshot: Snapshot, text: str, within: Ids | None) -> Ids:
    """Notes that hold the word in text, title or aliases. A simple word needs no text to be read."""
    pattern = text_pattern(text)
    if not (text.isalnum() and len(pattern.words) == 1 and not pattern.pairs and not pattern.begins):
        return notes_with_phrase(snapshot, text, within).notes
    return _limited(_holding(snapshot, snapshot.keywords.lexicon.spellings(pattern.words[0])), within)


def notes_with_phrase(snapshot: Snapshot, text: str, within: Ids | None) -> Matches:
    """Notes that hold the words in this order: in the text, which gives places, or in title or alias."""
    pattern = text_pattern(text)
    candidates = _candidates(snapshot, pattern, within)
    places = dict(_spans(snapshot.catalog, pattern, candidates))
    return Matches(frozenset(places) | _titled(snapshot.catalog, pattern, candidates), places)


def notes_within(snapshot: Snapshot, scope: Scope, inside: Node | None, within: Ids | None) -> Matches:
    """Notes with a section, line, … for which `inside` holds (None: that have one at all)."""
    candidates = _may_hold(snapshot, inside, within)
    headings: dict[int, list[HeadingRow]] = {}
    if scope in (Scope.HEADING, Scope.SECTION):
        headings = _headings(snapshot.catalog, candidates)
    places: dict[int, tuple[Span, ...]] = {}
    sql = "SELECT note_id, path FROM notes WHERE note_id IN (%s)"
    for note_id, path in snapshot.catalog.rows_in(sql, sorted(candidates)):
        note = NoteText(str(path), snapshot.catalog.text(note_id), headings.get(note_id, ()))
        reader = _Reader(note.text)
        found = tuple(
            (piece.start, piece.place_end)
            for piece in pieces(note, scope)
            if inside is None or holds(inside, partial(reader.has, piece))
        )
        if found:
            places[note_id] = found
    return Matches(frozenset(places), places)


def holds(node: Node, has: Callable[[str], bool]) -> bool:
    """Whether a tree of words and phrases holds, for one piece of text or one name."""
    match node:
        case Word(text, _) | Phrase(text, _):
            return has(text)
        case All(parts):
            return all(holds(part, has) for part in parts)
        case Either(parts):
            return any(holds(part, has) for part in parts)
        case Not(operand, _):
            return not holds(operand, has)
        case _:
            raise AssertionError(node)


def touching_chunks(catalog: CatalogReader, found: Matches) -> list[int]:
    """Keys of the chunks that touch a place; a place in no chunk (a comment between two) is not found."""
    sql = "SELECT key, start_pos, end_pos FROM chunks WHERE note_id IN (%s)"
    return [
        key
        for key, start, end in catalog.rows_in(sql, sorted(found.places))
        if any(start < last and first < end for first, last in found.places[note_id_of(key)])
    ]


def _limited(notes: Ids, within: Ids | None) -> Ids:
    return notes if within is None else notes & within


@dataclass(slots=True)
class _Reader:
    """Looks for words in pieces of one text, each word prepared once."""

    text: str
    _ready: dict[str, tuple[re.Pattern[str], str]] = field(default_factory=dict)

    def has(self, piece: Piece, words: str) -> bool:
        if words not in self._ready:
            self._ready[words] = text_pattern(words).over(self.text)
        regex, where = self._ready[words]
        return regex.search(where, piece.start, piece.end) is not None


def _holding(snapshot: Snapshot, terms: Iterable[str]) -> Ids:
    import numpy as np

    keys = snapshot.keywords.holding(terms, _TEXT_FIELDS)
    return frozenset(np.unique(keys >> CHUNK_KEY_BITS).tolist())


def _candidates(snapshot: Snapshot, pattern: TextPattern, within: Ids | None) -> Ids:
    """Notes that hold all that a pattern is made of within `_WINDOW` neighbouring chunks."""
    import numpy as np

    keys = snapshot.keywords.keys
    notes = keys >> CHUNK_KEY_BITS
    left = np.ones(len(keys), bool)
    for terms in _needs(snapshot, pattern):
        here = np.zeros(len(keys), bool)
        here[np.searchsorted(keys, snapshot.keywords.holding(terms, _TEXT_FIELDS))] = True
        near = here.copy()
        for step in range(1, _WINDOW):
            near[:-step] |= here[step:] & (notes[step:] == notes[:-step])
        left &= near
    return _limited(frozenset(np.unique(notes[left]).tolist()), within)


def _needs(snapshot: Snapshot, pattern: TextPattern) -> Iterator[Sequence[str]]:
    """For each part of a pattern the index terms of which a text with it holds at least one."""
    lexicon = snapshot.keywords.lexicon
    for word in pattern.words:
        yield (word, VARIANT_MARK + word)
    for pair in pattern.pairs:
        yield (pair,)
    for char in pattern.begins:
        yield [word.term for word in lexicon.with_prefix(char, 1 << 30)]
    for piece in pattern.pieces:
        yield lexicon.containing(piece)


def _spans(
    catalog: CatalogReader, pattern: TextPattern, notes: Iterable[int]
) -> Iterator[tuple[int, tuple[Span, ...]]]:
    for note_id in sorted(notes):
        note = NoteText("", catalog.text(note_id), ())
        regex, where = pattern.over(note.text)
        found = tuple(match.span() for match in regex.finditer(where, note.body_start))
        if found:
            yield note_id, found


def _titled(catalog: CatalogReader, pattern: TextPattern, notes: Iterable[int]) -> Ids:
    rows = catalog.rows_in("SELECT note_id, title, aliases FROM notes WHERE note_id IN (%s)", sorted(notes))
    return frozenset(row[0] for row in rows if any(pattern.is_in(str(name)) for name in row[1:]))


def _headings(catalog: CatalogReader, notes: Iterable[int]) -> dict[int, list[HeadingRow]]:
    sql = (
        "SELECT note_id, level, start_pos, end_pos FROM headings"
        " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
    )
    found: dict[int, list[HeadingRow]] = {}
    for note_id, level, start, end in catalog.rows_in(sql, sorted(notes)):
        found.setdefault(note_id, []).append(HeadingRow(level, start, end))
    return found


def _may_hold(snapshot: Snapshot, node: Node | None, within: Ids | None) -> Ids:
    """At least the notes with a piece for which `node` holds."""
    match node:
        case Word(text, _) | Phrase(text, _):
            return _candidates(snapshot, text_pattern(text), within)
        case All(parts):
            for part in parts:
                within = _may_hold(snapshot, part, within)
            return within if within is not None else everything(snapshot.catalog)
        case Either(parts):
            return frozenset[int]().union(*(_may_hold(snapshot, part, within) for part in parts))
        case _:
            return everything(snapshot.catalog) if within is None else within
