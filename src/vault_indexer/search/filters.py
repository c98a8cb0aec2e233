"""Which chunks a query's conditions leave: worked out before retrieval, so that no ranking loses a hit.

A condition is about notes. One that looks for something in the text (a phrase, a section, a task) also
says where in the note: then only the chunks that touch such a place are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vault_indexer.errors import QueryError
from vault_indexer.model import note_id_of
from vault_indexer.search.matches import Matches, Span
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
from vault_indexer.search.scopes import HeadingRow, NoteText, Piece, pieces
from vault_indexer.search.text_pattern import TextPattern, plain, text_pattern
from vault_indexer.store.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

_BATCH = 500
_TEXT_FIELDS = ("title", "aliases", "headers", "content")


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
    """Conditions over one snapshot at one time. Keeps what it has read until it is dropped."""

    def __init__(self, snapshot: Snapshot, now: datetime) -> None:
        self._snapshot = snapshot
        self._catalog = snapshot.catalog
        self._now = now

    def of(self, node: Node, within: frozenset[int] | None) -> Matches:
        """The notes for which a condition holds; of those `within`, if given."""
        found = self._of(node, within)
        if within is None or found.notes <= within:
            return found
        return found.both(Matches(within))

    def _of(self, node: Node, within: frozenset[int] | None) -> Matches:
        match node:
            case All(parts):
                return self._all(parts, within)
            case Either(parts):
                return Matches.any_of(self.of(part, within) for part in parts)
            case Not(operand, _):
                base = self._everything() if within is None else within
                return Matches(base - self.of(operand, base).notes)
            case Word(text, _):
                return Matches(self._with_word(text, within))
            case Phrase(text, _):
                return self._with_phrase(text, within)
            case Within(scope, inside, _):
                return self._within(scope, inside, within)
            case _:
                return Matches(self._by_fact(node))

    def _all(self, parts: tuple[Node, ...], within: frozenset[int] | None) -> Matches:
        """The cheap parts first: the texts are read of what they leave."""
        found: Matches | None = None
        for part in sorted(parts, key=_cost):
            left = within if found is None else frozenset(found.notes)
            one = self.of(part, left)
            found = one if found is None else found.both(one)
        return found if found is not None else Matches(self._everything())

    def _by_fact(self, node: Node) -> frozenset[int]:
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
            case _:
                raise AssertionError(node)

    def _ids(self, sql: str, *values: str | int) -> frozenset[int]:
        return frozenset(row[0] for row in self._catalog.rows(sql, values))

    def _everything(self) -> frozenset[int]:
        return self._ids("SELECT note_id FROM notes")

    def _linked(self, node: Linked) -> frozenset[int]:
        paths = self._named(node.target)
        if not paths:
            raise QueryError(f"{node.direction}: there is no note named {node.target!r}", node.column)
        found: set[int] = set()
        for path in paths:
            if node.direction is Direction.TO:
                found |= self._ids("SELECT note_id FROM links WHERE resolved = ?", path)
            else:
                sql = (
                    "SELECT t.note_id FROM notes s JOIN links l USING (note_id) JOIN notes t ON t.path = l.resolved"
                    " WHERE s.path = ?"
                )
                found |= self._ids(sql, path)
        return frozenset(found)

    def _named(self, name: str) -> list[str]:
        """Files by path or by the end of the path, with or without `.md`."""
        wanted = plain(name).removesuffix(".md").strip("/")
        found = []
        for (path,) in self._catalog.rows("SELECT path FROM files WHERE state != 'skipped'"):
            folded = plain(path)
            for known in {folded, folded.removesuffix(".md")}:
                if known == wanted or known.endswith(f"/{wanted}"):
                    found.append(path)
                    break
        return found

    def _within(self, scope: Scope, inside: Node | None, within: frozenset[int] | None) -> Matches:
        if scope is Scope.TAG and inside:
            return Matches(self._tagged(inside, within))
        if scope in NAMES and inside:
            return Matches(self._called(scope, inside, within))
        return self._in_text(scope, inside, within)

    def _tagged(self, inside: Node, within: frozenset[int] | None) -> frozenset[int]:
        match inside:
            case Word(text, _) | Phrase(text, _):
                tag = text.removeprefix("#").rstrip("/").casefold()
                sql = "SELECT note_id FROM tags WHERE tag = ? OR (tag >= ? AND tag < ?)"
                return self._ids(sql, tag, f"{tag}/", f"{tag}0")  # "0" follows "/"
            case All(parts):
                return frozenset.intersection(*(self._tagged(part, within) for part in parts))
            case Either(parts):
                return frozenset[int]().union(*(self._tagged(part, within) for part in parts))
            case Not(operand, _):
                return (self._everything() if within is None else within) - self._tagged(operand, within)
            case _:
                return frozenset()

    def _called(self, scope: Scope, inside: Node, within: frozenset[int] | None) -> frozenset[int]:
        found = []
        for note_id, path in self._catalog.rows("SELECT note_id, path FROM notes"):
            name = path.rpartition("/")[2] if scope is Scope.FILE else path
            folded = name.lower() if name.isascii() else plain(name)
            if _holds(inside, lambda text, folded=folded: plain(text) in folded):
                found.append(note_id)
        return frozenset(found) if within is None else frozenset(found) & within

    def _with_word(self, text: str, within: frozenset[int] | None) -> frozenset[int]:
        """Notes that hold the word as it is are known by the index, the rest have to be read."""
        pattern = text_pattern(text)
        if len(pattern.needs) != 1 or pattern.begins or not text.isalnum():
            return frozenset(self._with_phrase(text, within).notes)
        *exact, variant = pattern.needs[0]
        sure = self._holding(exact) if len(exact) == 1 else frozenset[int]()
        maybe = self._holding((*exact, variant)) - sure
        if within is not None:
            maybe &= within
        return sure | {note for note, _ in self._spans(pattern, maybe)} | self._titled(pattern, maybe)

    def _with_phrase(self, text: str, within: frozenset[int] | None) -> Matches:
        pattern = text_pattern(text)
        candidates = self._candidates(pattern, within)
        places = dict(self._spans(pattern, candidates))
        return Matches(frozenset(places) | self._titled(pattern, candidates), places)

    def _spans(self, pattern: TextPattern, notes: Iterable[int]) -> Iterator[tuple[int, tuple[Span, ...]]]:
        for note_id in sorted(notes):
            text = self._catalog.text(note_id)
            start = NoteText("", text, ()).body_start
            found = tuple(match.span() for match in pattern.regex.finditer(text, start))
            if found:
                yield note_id, found

    def _titled(self, pattern: TextPattern, notes: Iterable[int]) -> frozenset[int]:
        """Notes whose title or an alias of which matches."""
        rows = self._by_note("SELECT note_id, title, aliases FROM notes WHERE note_id IN (%s)", notes)
        return frozenset(row[0] for row in rows if any(map(pattern.regex.search, row[1:])))

    def _by_note(self, sql: str, notes: Iterable[int]) -> Iterator[tuple[int, ...]]:
        ordered = sorted(notes)
        for start in range(0, len(ordered), _BATCH):
            batch = ordered[start : start + _BATCH]
            yield from self._catalog.rows(sql % ",".join("?" * len(batch)), batch)

    def _candidates(self, pattern: TextPattern, within: frozenset[int] | None) -> frozenset[int]:
        """Notes that hold all index terms of a pattern, in whatever place."""
        held = [self._holding(terms) for terms in pattern.needs]
        for start in pattern.begins:
            words = self._snapshot.keywords.lexicon.with_prefix(start, 1 << 30)
            held.append(self._holding(word.term for word in words))
        if within is not None:
            held.append(within)
        return frozenset.intersection(*held) if held else self._everything()

    def _holding(self, terms: Iterable[str]) -> frozenset[int]:
        keys = self._snapshot.keywords.holding(terms, _TEXT_FIELDS)
        return frozenset((keys >> 20).tolist())

    def _in_text(self, scope: Scope, inside: Node | None, within: frozenset[int] | None) -> Matches:
        candidates = self._may_hold(inside, within)
        headings = self._headings(candidates) if scope in (Scope.HEADING, Scope.SECTION) else {}
        places: dict[int, tuple[Span, ...]] = {}
        rows = self._by_note("SELECT note_id, path FROM notes WHERE note_id IN (%s)", candidates)
        for note_id, path in rows:
            note = NoteText(str(path), self._catalog.text(note_id), headings.get(note_id, ()))
            found = tuple(
                (piece.start, piece.place_end)
                for piece in pieces(note, scope)
                if inside is None or _holds(inside, _reader(note.text, piece))
            )
            if found:
                places[note_id] = found
        return Matches(frozenset(places), places)

    def _headings(self, notes: Iterable[int]) -> dict[int, list[HeadingRow]]:
        sql = (
            "SELECT note_id, level, start_pos, end_pos FROM headings"
            " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
        )
        found: dict[int, list[HeadingRow]] = {}
        for note_id, level, start, end in self._by_note(sql, notes):
            found.setdefault(note_id, []).append(HeadingRow(level, start, end))
        return found

    def _may_hold(self, node: Node | None, within: frozenset[int] | None) -> frozenset[int]:
        """At least the notes with a piece for which `node` holds."""
        match node:
            case Word(text, _) | Phrase(text, _):
                return self._candidates(text_pattern(text), within)
            case All(parts):
                for part in parts:
                    within = self._may_hold(part, within)
                return within if within is not None else self._everything()
            case Either(parts):
                return frozenset[int]().union(*(self._may_hold(part, within) for part in parts))
            case _:
                return self._everything() if within is None else within


def _reader(text: str, piece: Piece) -> Callable[[str], bool]:
    return lambda words: text_pattern(words).regex.search(text, piece.start, piece.end) is not None


def _holds(node: Node, has: Callable[[str], bool]) -> bool:
    """Whether a tree of words holds, for one piece of text or one name."""
    match node:
        case Word(text, _) | Phrase(text, _):
            return has(text)
        case All(parts):
            return all(_holds(part, has) for part in parts)
        case Either(parts):
            return any(_holds(part, has) for part in parts)
        case Not(operand, _):
            return not _holds(operand, has)
        case _:
            raise QueryError("an operator cannot stand inside another one", _column(node))


def _column(node: Node) -> int:
    return 1 if isinstance(node, (All, Either)) else node.column


def _cost(node: Node) -> int:
    match node:
        case Within(scope, _, _):
            return 1 if scope is Scope.TAG else 2 if scope in NAMES else 9 if scope is Scope.BLOCK else 8
        case Phrase():
            return 7
        case Word():
            return 6
        case Not(operand, _):
            return _cost(operand) + 10
        case All(parts) | Either(parts):
            return max(map(_cost, parts))
        case Property():
            return 3
        case _:
            return 1


def _chunks(snapshot: Snapshot, found: Matches) -> Keys:
    """The chunks of whole notes, and those that touch a place."""
    import numpy as np

    known = snapshot.keywords.keys
    whole = np.array(sorted(found.notes - found.places.keys()), np.int64)
    keys = known[np.isin(known >> 20, whole, assume_unique=False)] if len(whole) else known[:0]
    touched = _touched(snapshot, found)
    return np.union1d(keys, np.array(touched, np.int64)) if touched else keys


def _touched(snapshot: Snapshot, found: Matches) -> list[int]:
    """A note whose places are in no chunk counts as not found."""
    evaluation = Evaluation(snapshot, datetime.now().astimezone())
    sql = "SELECT key, start_pos, end_pos FROM chunks WHERE note_id IN (%s)"
    keys = []
    for key, start, end in evaluation._by_note(sql, found.places):
        if any(start < last and first < end for first, last in found.places[note_id_of(key)]):
            keys.append(key)
    return keys
