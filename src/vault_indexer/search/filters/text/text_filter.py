"""Conditions on the text of notes: the text decides."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from vault_indexer.search.deadline import QueryDeadline, WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.candidates import TextCandidates, pattern_of
from vault_indexer.search.filters.matches import Ids, Matches, Span
from vault_indexer.search.filters.text.metadata import MetadataReader
from vault_indexer.search.filters.text.note_texts import NoteTexts
from vault_indexer.search.filters.text.pattern_search import PatternSearch, is_worth_scanning
from vault_indexer.search.filters.text.piece_tests import PieceTests
from vault_indexer.search.filters.text.pieces import PieceReader
from vault_indexer.search.filters.text_pattern import TextPattern
from vault_indexer.search.query import Node, RegexMatcher, Scope, Text
from vault_indexer.store.catalog import CatalogReader

_SOMEWHERE = ((0, 0),)
"""Where only the notes are asked for, and a note has no frontmatter, which does not count."""


class TextReader:
    """Looks for phrases and places in the texts of notes.

    `Evaluation` owns one, for one query over one snapshot in one thread. `candidates` say, without reading
    it, whether a note may hold a pattern; `position` gives the place of a note in their masks. A text is read
    at most once for each batch of notes, and decoded only where RE2 finds what a condition needs. All work
    counts in the budget; where it is spent, the other notes are not read.
    """

    def __init__(
        self,
        catalog: CatalogReader,
        deadline: QueryDeadline,
        budget: WorkBudget,
        candidates: TextCandidates,
        position: Callable[[int], int],
    ) -> None:
        self._budget = budget
        self._texts = NoteTexts(catalog, deadline, budget)
        self._search = PatternSearch(budget)
        self._metadata = MetadataReader(catalog, budget, candidates, position, self._search)
        tests = PieceTests(candidates, position, self._search, budget)
        self._pieces = PieceReader(catalog, budget, self._texts, self._search, tests)

    @property
    def unread(self) -> set[int]:
        """Notes that were not read because the budget was spent: what is found of them is not to be used."""
        return self._texts.unread

    def forget(self) -> None:
        """Forget the texts of the notes before, and what was found in them."""
        self._texts.forget()
        self._search.forget()
        self._metadata.forget()

    def notes_with(self, node: Text, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with the words in this order, or with a match of the expression: in the text,
        which gives places (all, or the first one), or in title, alias, tag or property. The text of a note
        without a body is its frontmatter."""
        pattern = pattern_of(node)
        if isinstance(pattern, RegexMatcher):
            places = self._matches_in_texts(pattern, notes, all_places=all_places)
        else:
            places = self._words_in_texts(pattern, notes, all_places=all_places)
        named = self._metadata.notes_with(pattern, notes.difference(places))
        return Matches(frozenset(places) | named, places)

    def notes_within(self, scope: Scope, inside: Node | None, notes: Ids, *, all_places: bool) -> Matches:
        """Of these notes those with a section, line, … for which `inside` holds (None: with one at all)."""
        return self._pieces.notes_within(scope, inside, notes, all_places=all_places)

    def _words_in_texts(
        self, pattern: TextPattern, notes: Ids, *, all_places: bool
    ) -> dict[int, tuple[Span, ...]]:
        places: dict[int, tuple[Span, ...]] = {}
        may_hold = self._search.occurrence(pattern) if is_worth_scanning(pattern) else None
        for note_id, searched in self._texts.read(notes, may_hold):
            self._texts.count_decoding(note_id, searched)
            spans = self._search.spans(pattern, searched, searched.text_start, len(searched.text))
            found = tuple(spans if all_places else islice(spans, 1))
            if found:
                self._budget.spend(costs.FOUND * len(found))
                places[note_id] = found
        return places

    def _matches_in_texts(
        self, matcher: RegexMatcher, notes: Ids, *, all_places: bool
    ) -> dict[int, tuple[Span, ...]]:
        places: dict[int, tuple[Span, ...]] = {}
        for note_id, searched in self._texts.read(notes, self._search.occurrence(matcher)):
            if not all_places and not searched.encoded.startswith(b"---"):
                places[note_id] = _SOMEWHERE
                continue
            self._texts.count_decoding(note_id, searched)
            found: list[Span] = []
            for span in self._search.places(matcher, searched, searched.text_start):
                found.append(span)
                if not all_places or self._budget.is_spent:
                    break
            if found:
                places[note_id] = tuple(found)
            if all_places and self._budget.is_spent:
                self._texts.unread.add(note_id)
        return places
