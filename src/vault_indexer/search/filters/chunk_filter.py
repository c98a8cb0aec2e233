"""Filters chunks by the conditions of a query.

Reading the text of every note that may meet a condition would take seconds for common words. So a filter
starts with all chunks that may pass, and checks notes in the order in which a ranking requests them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import accumulate

import numpy as np

from vault_indexer.arrays import Keys, Mask
from vault_indexer.model import CHUNK_KEY_BITS, count_in_notes
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters.candidates import Matches, Pattern, Span, pattern_of
from vault_indexer.search.filters.evaluation import Evaluation
from vault_indexer.search.filters.text_pattern import TextPattern, text_pattern
from vault_indexer.search.query import (
    NAMES,
    All,
    Condition,
    Either,
    Node,
    Not,
    Phrase,
    Within,
    Word,
    level_of,
    replace_leaves,
)
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import batches

# Detects conditions that contradict themselves or are always true, without reading any text.
#
# `line:(the -the)` would read every note that contains the word, and find nothing in any of them.


NOTHING = Either(())
"""A condition that no note meets."""

_ROUNDS = 3
"""The maximum number of times that the facts from parts are applied to the other parts. A rule of thumb."""

_PLAIN_WORDS = re.compile("[a-z0-9]+(?: [a-z0-9]+)*")

_Key = Pattern | Node
_Facts = Mapping[_Key, bool]


def simplify(node: Node) -> Node:
    """Returns an equivalent condition that matches the same notes at the same places. Contradictory places
    become `NOTHING`, a contradictory condition matches nothing, and redundant parts of places are removed."""
    simple = replace_leaves(node, _simple_place)
    # A contradictory condition remains next to `NOTHING`, so that its errors are still raised.
    return All((simple, NOTHING)) if _reduce(simple, {}, lambda node: node) is False else simple


def _simple_place(leaf: Node) -> Node:
    match leaf:
        case Within(scope, inside, column) if inside and scope not in NAMES:
            reduced = _reduce(inside, {}, _by_pattern)
            if reduced is False:
                return NOTHING
            return Within(scope, None if reduced is True else reduced, column)
        case _:
            return leaf


def _by_pattern(node: Node) -> _Key:
    """Returns a key that is equal for words and phrases with the same pattern."""
    return pattern_of(node) if isinstance(node, Word | Phrase) else node


def _reduce(node: Node, facts: _Facts, key_of: Callable[[Node], _Key]) -> Node | bool:
    """Returns the rest of a tree if the truth values of some leaves are known, or its own value."""
    match node:
        case Not(operand, column):
            reduced = _reduce(operand, facts, key_of)
            return not reduced if isinstance(reduced, bool) else Not(reduced, column)
        case All(parts):
            return _reduce_parts(All, parts, facts, key_of)
        case Either(parts):
            return _reduce_parts(Either, parts, facts, key_of)
        case _:
            key = key_of(node)
            implied = _implied_by(key) if isinstance(key, TextPattern) and key not in facts else ()
            return False if any(facts.get(word) is False for word in implied) else facts.get(key, node)


def _reduce_parts(
    kind: type[All] | type[Either], parts: tuple[Node, ...], facts: _Facts, key_of: Callable[[Node], _Key]
) -> Node | bool:
    """Reduces the parts of `All` or `Either`. In `All`, each part may assume that the other parts are true;
    in `Either`, that they are false."""
    wanted = kind is All
    left = list(parts)
    for _ in range(_ROUNDS):
        held = dict(facts)
        kept: list[Node] = []
        # Literals first: the facts they state reduce the other parts.
        for part in sorted(left, key=lambda part: _literal(part, wanted) is None):
            found = _reduce(part, held, key_of)
            if isinstance(found, bool):
                if found is not wanted:
                    return found
                continue
            kept.append(found)
            if literal := _literal(found, wanted):
                key, value = key_of(literal[0]), literal[1]
                held[key] = value
                if value and isinstance(key, TextPattern):
                    held.update(dict.fromkeys(_implied_by(key), True))
        # Restores the written order.
        unchanged = len(kept) == len(left) and all(part in left for part in kept)
        left = [part for part in left if part in kept] if unchanged else kept
        if unchanged:
            break
    if len(left) == 1:
        return left[0]
    return kind(tuple(left)) if left else wanted


def _literal(node: Node, wanted: bool) -> tuple[Node, bool] | None:
    """Returns the leaf of a literal, and its value if the node is `wanted`; None for other trees."""
    match node:
        case Not(operand, _):
            literal = _literal(operand, wanted)
            return (literal[0], not literal[1]) if literal else None
        case All() | Either():
            return None
        case _:
            return node, wanted


@lru_cache(maxsize=512)
def _implied_by(pattern: TextPattern) -> tuple[TextPattern, ...]:
    """Returns the patterns that a text with the pattern contains: its words, and the same in any case."""
    if not _PLAIN_WORDS.fullmatch(pattern.source):
        return ()
    words = {text_pattern(word) for word in pattern.source.split()}
    return tuple(words | {text_pattern(pattern.source)} - {pattern})


_FIRST_BATCH = 16
_LARGEST_BATCH = 256
"""Notes are checked in batches, each twice the size of the one before. Large batches are cheaper to read, but
a ranking may need only a few notes. A rule of thumb."""


class ChunkFilter:
    """The chunks that meet all conditions of a query. It is for one query in one thread.

    `keys` are the chunks that pass or may pass, ascending. `passing` and `settle` check notes, which reduces
    `keys`. When the budget is spent, no further notes are checked. `unchecked` is the number of notes that
    are therefore treated as if they did not meet the conditions.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        conditions: Sequence[Condition],
        now: datetime,
        deadline: QueryDeadline,
        budget: ReadingBudget | None = None,
    ) -> None:
        """Raises QueryError if a condition names a note that does not exist."""
        self._catalog = snapshot.catalog
        self._budget = budget or ReadingBudget()
        nodes = [condition.node for condition in conditions]
        levels = [required for node in nodes if (required := level_of(node))]
        self._node = simplify(All(tuple(node for node in nodes if level_of(node) is None)))
        self._evaluation = Evaluation(snapshot, now, deadline, self._budget)
        self._all = self._evaluation.keys
        self._owner = self._evaluation.owner
        bounds = self._evaluation.bounds(self._node)
        self._left: Mask = bounds.possible[self._owner]
        for level in levels:
            self._left &= at_level(self._catalog, self._all, level)
        self._open: Mask = bounds.possible & ~bounds.sure
        self._places: dict[int, Sequence[Span]] = {}
        # The chunks of a note are one range, so two borders describe them.
        self._borders = np.searchsorted(self._owner, np.arange(len(self._evaluation.notes) + 1)).tolist()
        self.candidates = int(bounds.possible.sum())
        self.unchecked = 0

    @property
    def keys(self) -> Keys:
        """The chunks that pass, and those of notes that have not been checked yet."""
        return self._all[self._left]

    @property
    def is_open(self) -> bool:
        return bool(self._open.any())

    def passing(self, keys: Keys, enough: int | None = None) -> Mask:
        """Marks the keys that pass. Keys are checked in the given order until `enough` pass; later keys count
        as not passing."""
        passed = np.zeros(len(keys), bool)
        positions = np.searchsorted(self._all, keys)
        # A key above all others has no position. Any valid one will do, because its key differs.
        positions[positions == len(self._all)] = 0
        # A ranking may know a chunk that the keyword index of this snapshot lacks.
        known = self._all[positions] == keys if len(self._all) else passed
        found, at, size = 0, 0, _FIRST_BATCH
        while at < len(keys) and (enough is None or found < enough):
            step = slice(at, at + size)
            here = positions[step]
            self._check(self._owner[here[known[step]]])
            passed[step] = known[step] & self._left[here]
            found += int(passed[step].sum())
            at, size = at + size, min(2 * size, _LARGEST_BATCH)
        return passed

    def settle(self) -> None:
        for waiting in batches(np.flatnonzero(self._open), _LARGEST_BATCH):
            self._check(waiting)

    def leaves_any(self) -> bool:
        # The certain chunks first, because they need no text.
        sure = self._left & ~self._open[self._owner]
        return bool(sure.any()) or bool(self.passing(np.flip(self.keys), 1).any())

    def first_chunks(self, notes: Iterable[int], limit: int, per_note: int) -> list[int]:
        """Returns the passing chunks of the first `limit` notes, in the given order. A note that meets the
        conditions as a whole contributes its first chunk, other notes at most `per_note` chunks that contain
        a match."""
        possible = np.zeros(len(self._evaluation.notes), bool)
        possible[self._owner[self._left]] = True
        ids = np.fromiter(notes, np.int64)
        at = np.searchsorted(self._evaluation.notes, ids)
        at[at == len(possible)] = 0
        wanted = at[(self._evaluation.notes[at] == ids) & possible[at]] if len(possible) else at[:0]
        shown: list[int] = []
        start, size = 0, _FIRST_BATCH
        while start < len(wanted) and len({key >> CHUNK_KEY_BITS for key in shown}) < limit:
            batch = wanted[start : start + size]
            start, size = start + size, min(2 * size, _LARGEST_BATCH)
            self._check(batch)
            for note in batch.tolist():
                first, last = self._borders[note : note + 2]
                own = self._all[first:last][self._left[first:last]].tolist()
                shown += own[: per_note if self._evaluation.notes[note] in self._places else 1]
        return shown[: count_in_notes((key >> CHUNK_KEY_BITS for key in shown), limit)]

    def places_in(self, note_id: int, start: int, end: int) -> list[Span]:
        """Returns the spans that the conditions matched in a part of a checked note, in order."""
        inside = ((max(first, start), min(last, end)) for first, last in self._places.get(note_id, ()))
        return sorted((first, last) for first, last in inside if first < last)

    def _check(self, notes: Keys) -> None:
        """Checks the notes, given by position, that have not been checked yet."""
        waiting = np.unique(notes[self._open[notes]])
        if not len(waiting):
            return
        found = Matches(frozenset())
        if self._budget.is_spent:
            self.unchecked += len(waiting)
        else:
            ids = frozenset(self._evaluation.notes[waiting].tolist())
            found, unread = self._evaluation.check(self._node, ids)
            self.unchecked += len(unread)
        # Checked or given up: in both cases it is not looked at again.
        self._open[waiting] = False
        touched = _touching_chunks(self._catalog, found.places)
        for note, note_id in zip(waiting.tolist(), self._evaluation.notes[waiting].tolist(), strict=True):
            first, last = self._borders[note : note + 2]
            if note_id not in found.notes:
                self._left[first:last] = False
            elif note_id in found.places:
                self._places[note_id] = found.places[note_id]
                own = self._all[first:last].tolist()
                self._left[first:last] &= [key in touched for key in own]


def at_level(catalog: CatalogReader, keys: Keys, level: tuple[int, bool]) -> Mask:
    """Marks the chunks that meet a condition on levels (see `level_of`)."""
    number, is_wanted = level
    left: Mask = np.isin(keys, catalog.keys_of_level(number)) == is_wanted
    return left


def _touching_chunks(catalog: CatalogReader, places: Mapping[int, Sequence[Span]]) -> set[int]:
    """Returns the keys of the chunks that touch a place. A comment between two chunks has none."""
    ordered = {note_id: _Places(spans) for note_id, spans in places.items()}
    sql = "SELECT key, start_pos, end_pos FROM chunks WHERE note_id IN (%s)"
    rows = catalog.rows_in(sql, sorted(places))
    return {key for key, start, end in rows if ordered[key >> CHUNK_KEY_BITS].touch(start, end)}


class _Places:
    """Spans of one text, for a fast check whether any of them touches another span."""

    def __init__(self, spans: Sequence[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        # The largest end so far: an earlier, longer span may reach further than the nearest one.
        self._ends = list(accumulate((end for _, end in ordered), max))

    def touch(self, start: int, end: int) -> bool:
        """Whether any span begins before `end` and ends after `start`."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._ends[before - 1] > start
