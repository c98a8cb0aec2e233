"""Conditions on paths and file names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from unicodedata import normalize as unicode_form

import numpy as np

from vault_indexer.arrays import Mask
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters.candidates import Ids
from vault_indexer.search.filters.text_pattern import plain
from vault_indexer.search.query import (
    All,
    Either,
    Node,
    Not,
    Phrase,
    Regex,
    Scope,
    Text,
    Word,
    atoms,
    compile_regex,
    holds,
)
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import JoinedTexts

_FEW_LEAVES = 2
"""Above this number of conditions all names are read once; up to it, SQLite searches. A rule of thumb."""


class NameReader:
    """Searches the names of all notes for one query.

    SQLite finds the few names that contain a word or two. Longer conditions search all names at once. The
    names are read and folded once for a query, and each text is searched for once.
    """

    def __init__(self, catalog: CatalogReader, deadline: QueryDeadline) -> None:
        self._catalog = catalog
        self._deadline = deadline
        self._names: dict[Scope, _Names] = {}

    def notes_with(self, scope: Scope, inside: Node) -> Ids:
        if len(list(atoms(inside))) <= _FEW_LEAVES:
            matching = []
            for note_id, name, folded in self._rows(scope, *path_condition(inside)):
                self._deadline.check()
                if holds(inside, partial(name_contains, name, folded)):
                    matching.append(note_id)
            return frozenset(matching)
        if scope not in self._names:
            self._names[scope] = _Names(self._rows(scope, "1", []))
        names = self._names[scope]
        return frozenset(names.ids[self._mask(names, inside)].tolist())

    def _rows(self, scope: Scope, likely: str, values: list[str]) -> list[tuple[int, str, str]]:
        rows = self._catalog.rows(f"SELECT note_id, path FROM notes WHERE {likely}", values)
        own = ((note_id, path.rpartition("/")[2] if scope is Scope.FILE else path) for note_id, path in rows)
        return [(note_id, name, name.lower() if name.isascii() else plain(name)) for note_id, name in own]

    def _mask(self, names: _Names, node: Node) -> Mask:
        match node:
            case Word() | Phrase() | Regex():
                self._deadline.check()
                return names.mask_containing(node)
            case All(parts):
                return reduce(np.logical_and, (self._mask(names, part) for part in parts))
            case Either(parts):
                return reduce(np.logical_or, (self._mask(names, part) for part in parts))
            case Not(operand, _):
                return ~self._mask(names, operand)
            case _:
                raise AssertionError(node)


class _Names:
    """The names of notes, for searches for several texts."""

    def __init__(self, rows: Sequence[tuple[int, str, str]]) -> None:
        self.ids = np.array([note_id for note_id, _, _ in rows], np.int64)
        self._names = [name for _, name, _ in rows]
        self._folded = [folded for _, _, folded in rows]
        self._joined = JoinedTexts(self._folded, "\n")
        self._known: dict[Text, Mask] = {}

    def mask_containing(self, wanted: Text) -> Mask:
        if wanted in self._known:
            return self._known[wanted]
        text = "" if isinstance(wanted, Regex) else plain(wanted.text)
        is_plain = isinstance(wanted, Word) or (isinstance(wanted, Phrase) and not wanted.match_case)
        found = np.zeros(len(self._names), bool)
        if is_plain and text:  # a text from `plain` has no line break
            found[list(self._joined.numbers_containing(text))] = True
        else:
            pairs = zip(self._names, self._folded, strict=True)
            found[:] = [name_contains(name, folded, wanted) for name, folded in pairs]
        self._known[wanted] = found
        return found


def escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


_UNFOLDED = "length(path) != length(CAST(path AS BLOB))"


def path_condition(inside: Node) -> tuple[str, list[str]]:
    """Returns an SQL condition on `path` that all paths with these words meet, and its values. It takes a
    tenth of the time of a check in Python. SQLite does not fold accents, so non-ASCII paths always pass."""
    match inside:
        case Word(text, _) | Phrase(text, _, _) if plain(text).isascii():
            return f"(path LIKE ? ESCAPE '\\' OR {_UNFOLDED})", [f"%{escape_like(plain(text))}%"]
        case All(parts) | Either(parts):
            sides = [path_condition(part) for part in parts]
            joint = " AND " if isinstance(inside, All) else " OR "
            return f"({joint.join(sql for sql, _ in sides)})", [one for _, values in sides for one in values]
        case Word() | Phrase():
            return _UNFOLDED, []
        case _:
            return "1", []


def name_contains(name: str, folded: str, wanted: Node) -> bool:
    """Whether a path or file name contains the text of `path:` or `file:`. `folded` is the name without case
    and accents. Raises QueryError for an invalid regular expression."""
    match wanted:
        case Regex(pattern, column, match_case):
            matcher = compile_regex(unicode_form("NFC", pattern), column, match_case=match_case)
            return matcher.is_in(unicode_form("NFC", name))
        case Phrase(text, _, True):
            return unicode_form("NFC", text) in unicode_form("NFC", name)
        case Word(text, _) | Phrase(text, _, _):
            return plain(text) in folded
        case _:
            raise AssertionError(wanted)
