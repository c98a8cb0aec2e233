"""Finds the notes that can contain a text, from the keyword index only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import reduce

import numpy as np

from vault_indexer.arrays import Keys, Mask, first_of_each
from vault_indexer.search.filters.text_pattern import TextPattern, text_pattern
from vault_indexer.search.query import (
    All,
    Either,
    Node,
    Phrase,
    Regex,
    RegexMatcher,
    Text,
    Word,
    compile_regex,
)
from vault_indexer.store import Snapshot
from vault_indexer.system import record
from vault_indexer.text.terms import VARIANT_MARK

Pattern = TextPattern | RegexMatcher

_WINDOW = 3
"""A phrase may extend over at most this number of chunks. A rule of thumb."""

_NAME_FIELDS = ("title", "aliases", "tags", "properties")
TEXT_FIELDS = (*_NAME_FIELDS, "headers", "content")

_RAREST = 6
_LOOKED_UP = 32
"""Limit of words of a phrase that select the notes to read: the `_RAREST` rarest of the first `_LOOKED_UP`.
More words would exclude hardly any further note. A rule of thumb."""

_LEXICON_SCANS = 8
"""Limit of parts of a query that are searched for in all words of the index. Each takes about 4 ms, and 4 us
for each word that contains the part: 14,000 words contain "tio"."""


def pattern_of(node: Text) -> Pattern:
    """Returns the pattern of a node. Raises QueryError for an invalid regular expression."""
    match node:
        case Word(text, _):
            return text_pattern(text)
        case Phrase(text, _, match_case):
            return text_pattern(text, match_case=True) if match_case else text_pattern(text)
        case Regex(pattern, column, match_case):
            return compile_regex(pattern, column, match_case=match_case)


class TextCandidates:
    """Finds, from the keyword index only, the notes that can contain a text. The result includes all notes
    that do contain it.

    An instance serves one query over one snapshot. `keys` are the chunks, ascending, and `owner` is the
    position of the note of each chunk. The returned masks use the same positions.
    """

    def __init__(self, snapshot: Snapshot, keys: Keys, owner: Keys, size: int) -> None:
        self._keywords = snapshot.keywords
        self._keys = keys
        self._owner = owner
        self._size = size
        self._near: dict[tuple[str, ...], Mask] = {}
        self._of_pattern: dict[Pattern, Mask] = {}
        self._of_names: dict[Pattern, tuple[Mask, Mask]] = {}
        self._needed: dict[Pattern, list[tuple[str, ...]]] = {}
        self._scans = 0

    def of(self, inside: Node) -> Mask:
        """Marks the notes with a piece that may match a tree of words, phrases and expressions."""
        match inside:
            case Word() | Phrase() | Regex():
                return self.of_pattern(pattern_of(inside))
            case All(parts):
                return reduce(np.logical_and, map(self.of, parts))
            case Either(parts):
                return reduce(np.logical_or, map(self.of, parts))
            case _:
                return np.ones(self._size, bool)

    def of_pattern(self, pattern: Pattern) -> Mask:
        """Marks the notes that contain all parts of a pattern: its words within `_WINDOW` neighbouring
        chunks, or the required letters of a regular expression anywhere."""
        known = self._of_pattern.get(pattern)
        if known is None:
            found = np.zeros(self._size, bool)
            if isinstance(pattern, RegexMatcher):
                found[:] = True
                for terms in self._needs(pattern):
                    found &= self._owners(
                        # The piece may be in the part of a long word that is not indexed.
                        self._keywords.mask_containing(terms, TEXT_FIELDS)
                        | self._keywords.with_longest_words(TEXT_FIELDS)
                    )
            else:
                left = np.ones(len(self._keys), bool)
                for terms in self._needs(pattern):
                    left &= self._near_chunks(terms)
                found = self._owners(left)
            known = self._of_pattern[pattern] = found
        return known

    def of_names(self, pattern: Pattern) -> tuple[Mask, Mask]:
        """Marks the notes that can contain a pattern in title, aliases, tags or properties. The first mask is
        for notes without frontmatter, the second for notes with it. If properties are the text of their note,
        their words are indexed as those of its first chunk."""
        if pattern not in self._of_names:
            bare, with_properties = np.ones(self._size, bool), np.ones(self._size, bool)
            is_first = first_of_each(self._owner)
            for terms in self._needs(pattern):
                named = self._keywords.mask_containing(terms, _NAME_FIELDS)
                content = self._keywords.mask_containing(terms, ("content",))
                if isinstance(pattern, RegexMatcher):
                    named |= self._keywords.with_longest_words(_NAME_FIELDS)
                    content |= self._keywords.with_longest_words(("content",))
                bare &= self._owners(named)
                with_properties &= self._owners(named | (is_first & content))
            self._of_names[pattern] = bare, with_properties
        return self._of_names[pattern]

    def _needs(self, pattern: Pattern) -> list[tuple[str, ...]]:
        """Returns for each part of a pattern index terms of which every match contains at least one."""
        if pattern not in self._needed:
            words = [] if isinstance(pattern, RegexMatcher) else self._needs_of_words(pattern)
            pieces = (
                tuple(self._keywords.lexicon.containing(one)) for one in pattern.pieces if self._may_scan()
            )
            self._needed[pattern] = [*words, *pieces]
        return self._needed[pattern]

    def _needs_of_words(self, pattern: TextPattern) -> Iterator[tuple[str, ...]]:
        known: list[tuple[str, ...]] = [(word, VARIANT_MARK + word) for word in pattern.words]
        known += [(pair,) for pair in pattern.pairs]
        if len(known) > _RAREST:
            # The rarest words exclude the most notes.
            known = sorted(known[:_LOOKED_UP], key=self._keywords.largest_document_frequency)
        yield from known[:_RAREST]
        for char in pattern.begins:
            if self._may_scan():
                # In effect without a limit: a word that is left out would exclude the notes that contain it.
                yield tuple(word.term for word in self._keywords.lexicon.with_prefix(char, 1 << 30))

    def _may_scan(self) -> bool:
        self._scans += 1
        return self._scans <= _LEXICON_SCANS

    def _near_chunks(self, terms: tuple[str, ...]) -> Mask:
        if terms not in self._near:
            here = self._keywords.mask_containing(terms, TEXT_FIELDS)
            near = here.copy()
            for step in range(1, _WINDOW):
                # A phrase may begin in one chunk and end in the next, but only within one note.
                near[:-step] |= here[step:] & (self._owner[step:] == self._owner[:-step])
            self._near[terms] = near
        return self._near[terms]

    def _owners(self, chunks: Mask) -> Mask:
        found = np.zeros(self._size, bool)
        found[self._owner[chunks]] = True
        return found


# Sets of notes that pass a filter, with the matching places in them.


Ids = frozenset[int]
"""Note ids."""

Span = tuple[int, int]


@record
class Matches:
    """Matching notes. `places` contains the matching spans of some of them; the others match as a whole."""

    notes: frozenset[int]
    places: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)

    def both(self, other: Matches) -> Matches:
        """Returns the notes in both, with the places of both."""
        notes = self.notes & other.notes
        places = {
            note: (*self.places.get(note, ()), *other.places.get(note, ()))
            for note in {*self.places, *other.places}
            if note in notes
        }
        return Matches(notes, places)

    @staticmethod
    def any_of(found: Iterable[Matches]) -> Matches:
        """Returns the notes in any of them. A note that matches as a whole in one of them has no places."""
        sides = list(found)
        notes = frozenset[int]().union(*(side.notes for side in sides))
        # A note that one side matches as a whole is not limited to the places of another side.
        whole = frozenset[int]().union(*(side.notes - side.places.keys() for side in sides))
        places: dict[int, tuple[Span, ...]] = {}
        for side in sides:
            for note, spans in side.places.items():
                if note not in whole:
                    places[note] = (*places.get(note, ()), *spans)
        return Matches(notes, places)
