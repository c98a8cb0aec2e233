"""Filters on the frontmatter: `[name]`, `[name:value]`, `[name:>3]`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TypeVar

from vault_indexer.model import JsonValue
from vault_indexer.search.filters.text_pattern import plain, text_pattern
from vault_indexer.search.query import (
    Compare,
    Node,
    Null,
    Phrase,
    Property,
    Regex,
    Word,
    compile_regex,
    holds,
    iso_date,
    number,
)
from vault_indexer.store.catalog import CatalogReader, Row

_Value = TypeVar("_Value", float, str)


class PropertyReader:
    """Looks at the frontmatter of all notes, for one query: each property is read once."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._read: dict[str, list[tuple[int, JsonValue]]] = {}

    def notes_with(self, wanted: Property) -> frozenset[int]:
        """The notes that have the property, with a value that passes the test."""
        held = self._values(wanted.name)
        return frozenset(
            id_ for id_, value in held if wanted.test is None or holds(wanted.test, partial(_is_value, value))
        )

    def _values(self, name: str) -> list[tuple[int, JsonValue]]:
        """Each note that has the property, with its value. Names are compared without case.

        SQLite looks for the name in the stored JSON; only what has it is parsed.
        """
        if name not in self._read:
            folded = plain(name)
            self._read[name] = [
                (int(note_id), value)
                for note_id, frontmatter in self._rows(name)
                for key, value in json.loads(frontmatter).items()
                if plain(key) == folded
            ]
        return self._read[name]

    def _rows(self, name: str) -> list[Row]:
        if not name.isascii():
            return self._catalog.rows("SELECT note_id, frontmatter FROM notes WHERE frontmatter != '{}'")
        escaped = json.dumps(name)[1:-1].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        sql = "SELECT note_id, frontmatter FROM notes WHERE frontmatter LIKE ? ESCAPE '\\'"
        return self._catalog.rows(sql, (f'%"{escaped}":%',))


def _is_value(value: JsonValue, test: Node) -> bool:
    if isinstance(test, Null):
        return value is None
    return any(_is(test, single) for single in _singles(value))


def _singles(value: JsonValue) -> Iterator[str | int | float | bool]:
    """A list stands for each of its items, a table for each of its values."""
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else None
    if inner is not None:
        for item in inner:
            yield from _singles(item)
    elif isinstance(value, (str, int, float, bool)):
        yield value


def _is(test: Node, value: str | int | float | bool) -> bool:
    match test:
        case Compare():
            return _passes_comparison(test, value)
        case Regex(pattern, column, match_case):
            return compile_regex(pattern, column, match_case=match_case).is_in(_as_text(value))
        case Phrase(text, _):
            return plain(text) == plain(_as_text(value)) or _same_number_or_day(text, value)
        case Word(text, _):
            return _same_number_or_day(text, value) or (text_pattern(text).is_in(_as_text(value)))
        case _:
            return False


def _as_text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _same_number_or_day(text: str, value: object) -> bool:
    """Whether the value is the number, or a time within the day, month or minute that the text names."""
    wanted = number(text)
    if wanted is not None:
        return wanted == number(value)
    day, held = iso_date(text), iso_date(value)
    return day is not None and held is not None and held.startswith(day)


def _passes_comparison(test: Compare, value: object) -> bool:
    if isinstance(test.value, str):
        held = iso_date(value)
        return held is not None and _compare(test.op, *_alike(held, test.value))
    measured = number(value)
    return measured is not None and _compare(test.op, measured, test.value)


def _alike(held: str, wanted: str) -> tuple[str, str]:
    """A day and a time are compared as days, a month and a day as months."""
    size = min(len(held), len(wanted))
    return held[:size], wanted[:size]


def _compare(op: str, left: _Value, right: _Value) -> bool:
    match op:
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "<":
            return left < right
        case _:
            return left <= right
