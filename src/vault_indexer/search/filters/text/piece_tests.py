"""Whether a tree of words, phrases and expressions holds for a piece of a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from vault_indexer.search.deadline import WorkBudget
from vault_indexer.search.filters import costs
from vault_indexer.search.filters.candidates import Pattern, TextCandidates, pattern_of
from vault_indexer.search.filters.text.note_source import NoteSource
from vault_indexer.search.filters.text.pattern_search import PatternSearch
from vault_indexer.search.filters.text.required import is_seen_in_text
from vault_indexer.search.filters.text_pattern import TextPattern
from vault_indexer.search.query import All, Either, Node, Not, Phrase, Regex, Scope, Word, atoms

PieceTest = Callable[[int, int], bool]
"""Whether the text from one position to another passes."""


@dataclass(frozen=True, slots=True)
class NoteInScope:
    """A note of which pieces are tested. Each of these holds the word `required`, if there is one."""

    note_id: int
    searched: NoteSource
    scope: Scope
    required: TextPattern | None


class PieceTests:
    """Makes the tests of pieces, note by note.

    `PieceReader` owns one, for one query in one thread. What the keyword index or a look at the whole text
    refutes is tested in no piece of the note. Making a test and each test count in the budget.
    """

    def __init__(
        self,
        candidates: TextCandidates,
        position: Callable[[int], int],
        search: PatternSearch,
        budget: WorkBudget,
    ) -> None:
        """`position` gives the place of a note in the masks of the candidates."""
        self._candidates = candidates
        self._position = position
        self._search = search
        self._budget = budget

    def of(self, inside: Node | None, note: NoteInScope) -> PieceTest:
        """The test whether a tree holds for a piece of the note; None stands for one that always does."""
        match inside:
            case None:
                return _always
            case Word() | Phrase() | Regex():
                self._budget.spend(costs.TERM)
                return self._of_pattern(pattern_of(inside), note)
            case All(parts):
                return partial(_all, [self.of(part, note) for part in _words_first(parts)])
            case Either(parts):
                return partial(_any, [self.of(part, note) for part in _words_first(parts)])
            case Not(operand, _):
                return partial(_not, self.of(operand, note))
            case _:
                raise AssertionError(inside)

    def _of_pattern(self, pattern: Pattern, note: NoteInScope) -> PieceTest:
        if pattern is note.required:  # `text_pattern` gives one object for one word
            return _always
        if not self._candidates.of_pattern(pattern)[self._position(note.note_id)]:
            return _never
        is_seen = is_seen_in_text(pattern, note.scope)
        if is_seen and not self._search.occurrence(pattern)(note.note_id, note.searched):
            return _never
        if isinstance(pattern, TextPattern):
            return partial(self._search.is_within, pattern, note.searched)
        return partial(self._search.matches_within, pattern, note.searched.text)


def _words_first(parts: Sequence[Node]) -> list[Node]:
    """In a short text a word is looked for in a third of the time that a regular expression takes."""
    return sorted(parts, key=lambda part: any(isinstance(leaf, Regex) for leaf in atoms(part)))


def _always(_start: int, _end: int) -> bool:
    return True


def _never(_start: int, _end: int) -> bool:
    return False


def _all(tests: Sequence[PieceTest], start: int, end: int) -> bool:
    return all(test(start, end) for test in tests)


def _any(tests: Sequence[PieceTest], start: int, end: int) -> bool:
    return any(test(start, end) for test in tests)


def _not(test: PieceTest, start: int, end: int) -> bool:
    return not test(start, end)
