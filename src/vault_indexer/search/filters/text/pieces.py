"""Conditions on pieces of notes: `line:`, `section:`, `block:`, `task:`, `heading:`, `content:`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from vault_indexer.search.deadline import WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.candidates import Pattern, pattern_of
from vault_indexer.search.filters.matches import Ids, Matches, Span
from vault_indexer.search.filters.scopes import NoteText, Pieces, pieces
from vault_indexer.search.filters.text.note_source import NoteSource
from vault_indexer.search.filters.text.note_texts import MayHold, NoteTexts
from vault_indexer.search.filters.text.pattern_search import PatternSearch
from vault_indexer.search.filters.text.piece_tests import NoteInScope, PieceTest, PieceTests
from vault_indexer.search.filters.text.required import is_seen_in_text, required_regex, required_word
from vault_indexer.search.filters.text.structure import read_structure
from vault_indexer.search.filters.text_pattern import TextPattern
from vault_indexer.search.query import All, Either, Node, Phrase, Regex, RegexMatcher, Scope, Word, encode
from vault_indexer.store.catalog import CatalogReader

_SMALL_PART = 8
"""Where pieces are a smaller part of the text than one in so many, each is looked into by itself. A rule of
thumb."""


class PieceReader:
    """Finds the pieces of notes for which a tree of words, phrases and expressions holds.

    `TextReader` owns one, for one query over one snapshot in one thread. Notes are read through `texts`. A
    note that is not done when the budget is spent is among its unread notes.
    """

    def __init__(
        self,
        catalog: CatalogReader,
        budget: WorkBudget,
        texts: NoteTexts,
        search: PatternSearch,
        tests: PieceTests,
    ) -> None:
        self._catalog = catalog
        self._budget = budget
        self._texts = texts
        self._search = search
        self._tests = tests

    def notes_within(self, scope: Scope, inside: Node | None, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with a section, line, … for which `inside` holds (None: with one at all)."""
        word = required_word(inside)
        regex = required_regex(inside, scope) if word is None else None
        may_hold = self._may_hold(inside, scope) if inside else None
        read = list(self._texts.read(notes, may_hold))
        structure = read_structure(self._catalog, scope, [note_id for note_id, _ in read])
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._texts.until_spent(read):
            self._texts.count_decoding(note_id, searched)
            note = structure.note(note_id, searched.text)
            self._count_structure(note, scope)
            test = self._tests.of(inside, NoteInScope(note_id, searched, scope, word))
            spans = self._spans(pieces(note, scope), searched, test, word or regex)
            found = tuple(spans if all_places else islice(spans, 1))
            if self._budget.is_spent and (all_places or not found):
                self._texts.unread.add(note_id)
            elif found:
                places[note_id] = found
        return Matches(frozenset(places), places)

    def _may_hold(self, inside: Node, scope: Scope) -> MayHold | None:
        """What UTF-8 says of whether a note has a piece for which a tree holds; None: nothing."""
        match inside:
            case Word() | Phrase() | Regex():
                pattern = pattern_of(inside)
                return self._search.occurrence(pattern) if is_seen_in_text(pattern, scope) else None
            case All(parts):
                tests = [test for part in parts if (test := self._may_hold(part, scope)) is not None]
                return partial(_all_may_hold, tests) if tests else None
            case Either(parts):
                either = [self._may_hold(part, scope) for part in parts]
                certain = [test for test in either if test is not None]
                return partial(_any_may_hold, certain) if len(certain) == len(parts) else None
            case _:
                return None

    def _count_structure(self, note: NoteText, scope: Scope) -> None:
        self._budget.spend(costs.STRUCTURE)
        self._budget.spend(costs.HEADING * len(note.headings))
        if scope is Scope.BLOCK and note.blocks is None:
            self._budget.spend(costs.PARSED_CHAR * len(note.text))

    def _spans(
        self, found: Pieces, searched: NoteSource, test: PieceTest, required: Pattern | None
    ) -> Iterator[Span]:
        """The places of the pieces that pass a test. Every one of these holds what is required, so the others
        are not looked into."""
        self._budget.spend(costs.PIECE * len(found))
        numbers = (
            self._numbers_matching(found, searched, required)
            if isinstance(required, RegexMatcher)
            else self._numbers_holding(found, searched, required)
        )
        for number in numbers:
            if self._budget.is_spent:
                return
            if test(found.starts[number], found.ends[number]):
                yield found.starts[number], found.place_ends[number]

    def _numbers_holding(
        self, found: Pieces, searched: NoteSource, word: TextPattern | None
    ) -> Iterator[int]:
        """The pieces that hold a word, each once, in order; without a word all."""
        if word is None:
            yield from range(len(found))
            return
        if found.size * _SMALL_PART < len(searched.text):
            for each, start, end in zip(range(len(found)), found.starts, found.ends, strict=True):
                if self._search.is_within(word, searched, start, end):
                    yield each
            return
        last = -1
        for start, _ in self._search.spans(word, searched, searched.text_start, len(searched.text)):
            self._budget.spend(costs.FOUND)
            number = found.at(start)
            if number is not None and number != last:
                last = number
                yield number

    def _numbers_matching(self, found: Pieces, searched: NoteSource, matcher: RegexMatcher) -> Iterator[int]:
        """The pieces in which a match of the whole text begins: at least those that match by themselves."""
        text, data = searched.text, searched.encoded
        at = position = 0
        while at <= len(data):
            match = self._search.find(matcher, data, at)
            if match is None:
                return
            position += len(data[at : match[0]].decode("utf-8"))
            number = found.at_or_behind(position)
            if number is None:
                return
            yield number
            after = max(found.ends[number], position + 1)
            at = match[0] + len(encode(text[position:after]))
            position = after


def _all_may_hold(tests: Sequence[MayHold], note_id: int, searched: NoteSource) -> bool:
    return all(test(note_id, searched) for test in tests)


def _any_may_hold(tests: Sequence[MayHold], note_id: int, searched: NoteSource) -> bool:
    return any(test(note_id, searched) for test in tests)
