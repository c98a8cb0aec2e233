"""Which chunks a query's conditions leave: worked out before retrieval, so that no ranking loses a hit.

A condition is about notes. One that looks for something in the text (a phrase, a section, a task) also
says where in the note: then only the chunks that touch such a place are left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from vault_indexer.errors import QueryError
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.matches import Matches
from vault_indexer.search.properties import notes_with_property
from vault_indexer.search.query_ast import (
    NAMES,
    All,
    Condition,
    Direction,
    Either,
    Language,
    Linked,
    Modified,
    Node,
    Not,
    Phrase,
    Property,
    Scope,
    Within,
    Word,
)
from vault_indexer.search.query_values import moment_ns
from vault_indexer.search.text_filters import (
    Ids,
    everything,
    holds,
    notes_with_phrase,
    notes_with_word,
    notes_within,
    touching_chunks,
)
from vault_indexer.search.text_pattern import plain
from vault_indexer.store.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the conditions leave: chunk keys, ascending. `matches` are the notes behind them."""

    keys: Keys
    matches: Matches


def allowed_chunks(snapshot: Snapshot, conditions: Iterable[Condition], now: datetime) -> Allowed | None:
    """The chunks for which all conditions hold; None without a condition. Raises QueryError for a note
    that is named and not there."""
    nodes = tuple(condition.node for condition in conditions)
    if not nodes:
        return None
    found = Evaluation(snapshot, now).of(All(nodes), None)
    return Allowed(_chunks(snapshot, found), found)


class Evaluation:
    """Conditions over one snapshot, at one time."""

    def __init__(self, snapshot: Snapshot, now: datetime) -> None:
        self._snapshot = snapshot
        self._catalog = snapshot.catalog
        self._now = now

    def of(self, node: Node, within: Ids | None) -> Matches:
        """The notes for which a condition holds; of those `within`, if given."""
        found = self._of(node, within)
        if within is None or found.notes <= within:
            return found
        return found.both(Matches(within))

    def _of(self, node: Node, within: Ids | None) -> Matches:
        match node:
            case All(parts):
                return self._all(parts, within)
            case Either(parts):
                return Matches.any_of([self.of(part, within) for part in parts])
            case Not(operand, _):
                base = everything(self._catalog) if within is None else within
                return Matches(base - self.of(operand, base).notes)
            case Word(text, _):
                return Matches(notes_with_word(self._snapshot, text, within))
            case Phrase(text, _):
                return notes_with_phrase(self._snapshot, text, within)
            case Within(scope, inside, _) if scope not in NAMES:
                return notes_within(self._snapshot, scope, inside, within)
            case Within(Scope.TAG, inside, _) if inside:
                return self._tagged(inside, within)
            case _:
                return Matches(self._by_fact(node))

    def _all(self, parts: tuple[Node, ...], within: Ids | None) -> Matches:
        """The cheap parts first: texts are read only of what they leave."""
        found: Matches | None = None
        for part in sorted(parts, key=_cost):
            one = self.of(part, within if found is None else found.notes)
            found = one if found is None else found.both(one)
        return found if found is not None else Matches(everything(self._catalog))

    def _tagged(self, inside: Node, within: Ids | None) -> Matches:
        match inside:
            case Word(text, _) | Phrase(text, _):
                tag = text.removeprefix("#").rstrip("/").casefold()
                sql = "SELECT note_id FROM tags WHERE tag = ? OR (tag >= ? AND tag < ?)"
                return Matches(self._ids(sql, tag, f"{tag}/", f"{tag}0"))  # "0" follows "/"
            case All(parts) | Either(parts):
                tagged = tuple(Within(Scope.TAG, part, 0) for part in parts)
                return self.of(type(inside)(tagged), within)
            case Not(operand, column):
                return self.of(Not(Within(Scope.TAG, operand, 0), column), within)
            case _:
                raise AssertionError(inside)

    def _by_fact(self, node: Node) -> Ids:
        match node:
            case Property():
                return notes_with_property(self._catalog, node)
            case Language(code, _):
                return self._ids("SELECT note_id FROM notes WHERE language = ?", code)
            case Modified(moment, since, _):
                sql = f"SELECT note_id FROM notes WHERE mtime_ns {'>=' if since else '<'} ?"
                return self._ids(sql, moment_ns(moment, self._now))
            case Linked():
                return self._linked(node)
            case Within(scope, inside, _) if inside:
                return self._called(scope, inside)
            case _:
                raise AssertionError(node)

    def _ids(self, sql: str, *values: str | int) -> Ids:
        return frozenset(row[0] for row in self._catalog.rows(sql, values))

    def _called(self, scope: Scope, inside: Node) -> Ids:
        """Notes whose path or file name contains the words."""
        found = []
        likely, values = _like(inside)
        for note_id, path in self._catalog.rows(f"SELECT note_id, path FROM notes WHERE {likely}", values):
            name = path.rpartition("/")[2] if scope is Scope.FILE else path
            folded = name.lower() if name.isascii() else plain(name)
            if holds(inside, partial(_contains, folded)):
                found.append(note_id)
        return frozenset(found)

    def _linked(self, node: Linked) -> Ids:
        paths = self._named(node.target)
        if not paths:
            raise QueryError(f"{node.direction}: there is no note named {node.target!r}", node.column)
        if node.direction is Direction.TO:
            sql = "SELECT note_id FROM links WHERE resolved = ?"
        else:
            sql = (
                "SELECT t.note_id FROM notes s JOIN links l USING (note_id)"
                " JOIN notes t ON t.path = l.resolved WHERE s.path = ?"
            )
        return frozenset[int]().union(*(self._ids(sql, path) for path in paths))

    def _named(self, name: str) -> list[str]:
        """Files by path or by the end of the path, with or without `.md`."""
        wanted = plain(name).removesuffix(".md").strip("/")
        likely, values = _like(Word(wanted, 0))
        sql = f"SELECT path FROM files WHERE ({likely}) AND state != 'skipped'"
        rows = self._catalog.rows(sql, values)
        folded = ((path, "/" + plain(path)) for (path,) in rows)
        return [path for path, end in folded if end.removesuffix(".md").endswith("/" + wanted)]


_UNFOLDED = "length(path) != length(CAST(path AS BLOB))"


def _like(inside: Node) -> tuple[str, list[str]]:
    """A condition in SQL on `path` that all paths with these words fulfil, in a tenth of the time that it
    takes to look at them here. SQLite knows no accents: paths beyond ASCII are let through."""
    match inside:
        case Word(text, _) | Phrase(text, _) if plain(text).isascii():
            escaped = plain(text).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            return f"(path LIKE ? ESCAPE '\\' OR {_UNFOLDED})", [f"%{escaped}%"]
        case All(parts) | Either(parts):
            sides = [_like(part) for part in parts]
            joint = " AND " if isinstance(inside, All) else " OR "
            return f"({joint.join(sql for sql, _ in sides)})", [one for _, values in sides for one in values]
        case Word() | Phrase():
            return _UNFOLDED, []
        case _:
            return "1", []


def _contains(name: str, text: str) -> bool:
    return plain(text) in name


def _cost(node: Node) -> int:
    """In what order conditions are worth trying."""
    match node:
        case Not(operand, _):
            return 10 + _cost(operand)
        case All(parts) | Either(parts):
            return max(map(_cost, parts))
        case Within(Scope.TAG) | Language() | Modified():
            return 1
        case Within(Scope.PATH | Scope.FILE) | Linked() | Property():
            return 2
        case Word():
            return 3
        case Phrase():
            return 4
        case _:
            return 5


def _chunks(snapshot: Snapshot, found: Matches) -> Keys:
    """The chunks of notes that match as a whole, and those that touch a place."""
    import numpy as np

    known = snapshot.keywords.keys
    whole = np.array(sorted(found.notes - found.places.keys()), np.int64)
    keys = known[np.isin(known >> CHUNK_KEY_BITS, whole)]
    if not found.places:
        return keys
    return np.union1d(keys, np.array(touching_chunks(snapshot.catalog, found), np.int64))
