"""Evaluates the conditions of a query on notes, before retrieval, so that no ranking loses a hit.

Conditions apply to notes. A condition on the text (a phrase, a section, a task) also returns its places in
the note, and then only the chunks that touch such a place pass (`chunk_filter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vault_indexer.arrays import Keys, Mask, first_of_each
from vault_indexer.errors import QueryError
from vault_indexer.model import CHUNK_KEY_BITS, KINDS, doc_id_of
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters.candidates import TEXT_FIELDS, Ids, Matches, TextCandidates
from vault_indexer.search.filters.path_filter import NameReader, path_condition
from vault_indexer.search.filters.properties import PropertyReader
from vault_indexer.search.filters.scopes import task_states
from vault_indexer.search.filters.text import TextReader
from vault_indexer.search.filters.text_pattern import plain, text_pattern
from vault_indexer.search.query import (
    NAMES,
    All,
    Direction,
    Either,
    Fact,
    InVault,
    Linked,
    Node,
    Not,
    Phrase,
    Property,
    Regex,
    Scope,
    Within,
    Word,
    moment_ns,
    replace_leaves,
)
from vault_indexer.store import Snapshot
from vault_indexer.store.catalog import tag_condition
from vault_indexer.text.fold import did_you_mean, tag_name

_FACTS: Mapping[str, tuple[str, Callable[[str, datetime], str | int]]] = {
    "before": ("mtime_ns < ?", moment_ns),
    "after": ("mtime_ns >= ?", moment_ns),
    "lang": ("language = ?", lambda code, _now: code),
}
"""For each operator of a `Fact`: its SQL condition on the table `notes`, and how its value is read."""


class Bounds(NamedTuple):
    """The result of a condition as far as it is known without reading any text. The notes of `sure` meet it
    as a whole, and no note outside `possible` meets it. Both are masks over `Evaluation.notes`."""

    sure: Mask
    possible: Mask


class Evaluation:
    """Evaluates conditions over one snapshot, at one time, for one query. It is not thread-safe.

    Only few texts are read: `bounds` determines from the catalog and the keyword index which notes meet a
    condition for certain and which may meet it, and `check` reads the texts of the notes passed to it. `keys`
    are all chunks, ascending, `notes` are their notes, and `owner` is the position of the note of each chunk.
    `also` adds notes that may have no chunk.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        now: datetime,
        deadline: QueryDeadline,
        budget: ReadingBudget,
        also: Iterable[int] = (),
    ) -> None:
        self._snapshot = snapshot
        self._catalog = snapshot.catalog
        self._now = now
        self._deadline = deadline
        self.keys = snapshot.keywords.keys
        own = self.keys >> CHUNK_KEY_BITS
        # The keys ascend, so the chunks of a note follow each other.
        first = first_of_each(own)
        self.notes: Keys = np.union1d(own[first], np.array(list(also), np.int64)) if also else own[first]
        self.owner: Keys = np.searchsorted(self.notes, own) if also else np.cumsum(first) - 1
        self._candidates = TextCandidates(snapshot, self.keys, self.owner, len(self.notes))
        self._reader = TextReader(
            snapshot.catalog, deadline, budget, self._candidates, lambda note_id: self._positions[note_id]
        )
        self._names = NameReader(snapshot.catalog, deadline)
        self._properties = PropertyReader(snapshot.catalog)
        self._known: dict[Node, Bounds] = {}

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {note_id: position for position, note_id in enumerate(self.notes.tolist())}

    def bounds(self, node: Node) -> Bounds:
        """Returns the bounds of a condition. Raises QueryError if it names a note that does not exist."""
        if node not in self._known:
            self._deadline.check()
            self._known[node] = self._bounds(node)
        return self._known[node]

    def check(self, node: Node, notes: Ids) -> tuple[Matches, Ids]:
        """Returns the notes that meet a condition, and the notes that were not read because the budget was
        spent, so that their result is unknown."""
        self._reader.forget()
        matches = self._check(node, notes, all_places=True)
        unread = notes & self._reader.unread
        return matches.both(Matches(notes - unread)) if unread else matches, unread

    def _bounds(self, node: Node) -> Bounds:
        match node:
            case All(parts):
                return self._combine(np.logical_and, parts)
            case Either(parts):
                return self._combine(np.logical_or, parts)
            case Not(operand, _):
                sure, possible = self.bounds(operand)
                # What is impossible for the operand is certain for its negation.
                return Bounds(~possible, ~sure)
            case Within(Scope.TAG, inside, column) if inside and not isinstance(inside, (Word, Phrase)):
                return self.bounds(_each_tag(inside, column))
            case InVault():
                return Bounds(*(np.full(len(self.notes), node.is_here) for _ in Bounds._fields))
            case Phrase() | Regex():
                return self._maybe(self._candidates.of(node))
            case Within(scope, inside, _) if scope not in NAMES:
                return self._maybe(self._candidates_within(scope, inside))
            case _:
                return self._exactly(node)

    def _combine(self, how: np.ufunc, parts: Iterable[Node]) -> Bounds:
        # For no parts: `All` is true of every note, `Either` of none.
        none = np.full(len(self.notes), how.identity, bool)
        sides = [Bounds(none, none), *(self.bounds(part) for part in parts)]
        return Bounds(
            how.reduce([side.sure for side in sides]), how.reduce([side.possible for side in sides])
        )

    def _maybe(self, possible: Mask) -> Bounds:
        return Bounds(np.zeros(len(self.notes), bool), possible)

    def _exactly(self, node: Node) -> Bounds:
        """Returns the bounds of a condition that rarely or never requires reading a text."""
        if isinstance(node, Word):
            pattern = text_pattern(node.text)
            is_one = len(pattern.words) == 1 and not (pattern.pairs or pattern.begins)
            # Otherwise the keyword index alone does not tell which notes contain it.
            if not (is_one and node.text.isalnum()):
                return self._maybe(self._candidates.of_pattern(pattern))
            keywords = self._snapshot.keywords
            spellings = keywords.lexicon.spellings(pattern.words[0])
            ids = keywords.keys_containing(spellings, TEXT_FIELDS) >> CHUNK_KEY_BITS
        else:
            ids = np.array(sorted(self._by_fact(node)), np.int64)
        mask = self._mask(ids)
        return Bounds(mask, mask)

    def _mask(self, ids: Keys) -> Mask:
        mask = np.zeros(len(self.notes), bool)
        if len(self.notes):
            at = np.searchsorted(self.notes, ids)
            at[at == len(self.notes)] = 0
            mask[at[self.notes[at] == ids]] = True
        return mask

    def _candidates_within(self, scope: Scope, inside: Node | None) -> Mask:
        found = self._candidates.of(inside) if inside else np.ones(len(self.notes), bool)
        states = task_states(scope)
        if states:
            found = found & self._mask(np.array(self._catalog.notes_with_task(states), np.int64))
        return found

    def _check(self, node: Node, notes: Ids, *, all_places: bool) -> Matches:
        """Checks the notes by the bounds first, and by their texts if these leave it open. Without
        `all_places` a text is read only up to the first place, and callers must not use `Matches.places`."""
        bounds = self.bounds(node)
        ids = np.array(sorted(notes), np.int64)
        at = np.searchsorted(self.notes, ids)
        whole = Matches(frozenset(ids[bounds.sure[at]].tolist()))
        unknown = frozenset(ids[bounds.possible[at] & ~bounds.sure[at]].tolist())
        if not unknown:
            return whole
        return Matches.any_of([whole, self._read(node, unknown, all_places=all_places)])

    def _read(self, node: Node, notes: Ids, *, all_places: bool) -> Matches:
        match node:
            case All(parts):
                return self._all(parts, notes, all_places=all_places)
            case Either(parts):
                return Matches.any_of([self._check(part, notes, all_places=all_places) for part in parts])
            case Not(operand, _):
                # What a note lacks has no place in its text.
                return Matches(notes - self._check(operand, notes, all_places=False).notes)
            case Word():
                return Matches(self._reader.notes_with(node, notes, all_places=False).notes)
            case Phrase() | Regex():
                return self._reader.notes_with(node, notes, all_places=all_places)
            case Within(Scope.TAG, inside, column) if inside:
                return self._check(_each_tag(inside, column), notes, all_places=all_places)
            case Within(scope, inside, _):
                return self._reader.notes_within(scope, inside, notes, all_places=all_places)
            case _:
                raise AssertionError(node)

    def _all(self, parts: tuple[Node, ...], notes: Ids, *, all_places: bool) -> Matches:
        """Checks every part, cheap ones first. Only the notes that pass are searched for all places."""
        ordered = sorted(parts, key=_cost)
        for part in ordered:
            notes = self._check(part, notes, all_places=False).notes
        matches = Matches(notes)
        for part in ordered if all_places else ():
            matches = matches.both(self._check(part, notes, all_places=True))
        return matches

    def _by_fact(self, node: Node) -> Ids:
        match node:
            case Property():
                return self._properties.notes_with(node)
            case Fact("kind", value, _):
                suffixes = KINDS[value] or (*KINDS["canvas"], *KINDS["document"])
                meets = " OR ".join(["path LIKE ?"] * len(suffixes))
                sql = f"SELECT note_id FROM notes WHERE {'' if KINDS[value] else 'NOT '}({meets})"
                return self._ids(sql, *(f"%{suffix}" for suffix in suffixes))
            case Fact(operator, value, _):
                condition, read = _FACTS[operator]
                return self._ids(f"SELECT note_id FROM notes WHERE {condition}", read(value, self._now))
            case Linked():
                return self._notes_linked(node)
            case Within(Scope.TAG, Word(text, _) | Phrase(text, _), _):
                condition, names = tag_condition(tag_name(text))
                return self._ids(f"SELECT note_id FROM tags WHERE {condition}", *names)
            case Within(scope, inside, _) if inside:
                return self._names.notes_with(scope, inside)
            case _:
                raise AssertionError(node)

    def _ids(self, sql: str, *values: str | int) -> Ids:
        return frozenset(row[0] for row in self._catalog.rows(sql, values))

    def _notes_linked(self, node: Linked) -> Ids:
        # The files with this path or end of the path, with or without `.md`.
        wanted = plain(node.target).removesuffix(".md").strip("/")
        likely, values = path_condition(Word(wanted, 0))
        rows = self._catalog.rows(f"SELECT path FROM files WHERE ({likely}) AND state != 'skipped'", values)
        folded = ((path, "/" + plain(path)) for (path,) in rows)
        paths = [path for path, end in folded if end.removesuffix(".md").endswith("/" + wanted)]
        # A typing error would otherwise look like a note without links.
        if not paths:
            names = {path: doc_id_of(path).rpartition("/")[2] for path in self._catalog.note_paths()}
            near = did_you_mean(node.target.rpartition("/")[2], names)
            raise QueryError(f"{node.direction}: there is no note named {node.target!r}{near}", node.column)
        if node.direction is Direction.TO:
            sql = "SELECT note_id FROM links WHERE resolved = ?"
        else:
            sql = (
                "SELECT t.note_id FROM notes s JOIN links l USING (note_id)"
                " JOIN notes t ON t.path = l.resolved WHERE s.path = ?"
            )
        return frozenset[int]().union(*(self._ids(sql, path) for path in paths))


def _each_tag(inside: Node, column: int) -> Node:
    """Rewrites `tag:(a -b)` as `tag:a -tag:b`."""
    return replace_leaves(inside, lambda leaf: Within(Scope.TAG, leaf, column))


def _cost(node: Node) -> int:
    """Returns the relative cost of a condition. Cheap conditions are checked first."""
    match node:
        case Not(operand, _):
            return 10 + _cost(operand)
        case All(parts) | Either(parts):
            return max(map(_cost, parts), default=0)
        case Within(Scope.TAG) | Fact() | InVault():
            return 1
        case Within(Scope.PATH | Scope.FILE) | Linked() | Property():
            return 2
        case Word():
            return 3
        case Phrase():
            return 4
        case _:
            return 5
