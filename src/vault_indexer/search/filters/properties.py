"""Filters on properties: `[name]`, `[name:value]`, `[name:>3]`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import ge, gt, le, lt
from typing import Any

from vault_indexer.model import JsonValue
from vault_indexer.parse import fold_name, join_values, readable
from vault_indexer.search.filters.path_filter import escape_like
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

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}
_MARKS = frozenset("[*_`~=<")
_YEARS = range(1000, 10_000)
"""The numbers that are compared with dates as years."""


class PropertyReader:
    """Reads the frontmatter and the fields of all notes for one query. Each property is read once."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._read: dict[str, list[tuple[int, JsonValue]]] = {}

    def notes_with(self, wanted: Property) -> frozenset[int]:
        """Returns the notes that have the property with a value that passes the test."""
        return frozenset(note_id for note_id, value in self._values(wanted.name) if passes(wanted, value))

    def _values(self, name: str) -> list[tuple[int, JsonValue]]:
        """Returns each note that has the property, with its value. Names are compared without case.

        SQLite searches the stored JSON for the name, and only matching rows are parsed.
        """
        if name not in self._read:
            folded = plain(name)
            found: dict[int, list[JsonValue]] = {}
            for note_id, frontmatter in self._rows(name):
                for key, value in json.loads(frontmatter).items():
                    if plain(key) == folded:
                        found.setdefault(int(note_id), []).append(value)
            for note_id, value in self._catalog.fields_named(fold_name(name)):
                found.setdefault(note_id, []).append(value)
            self._read[name] = [(note_id, join_values(values)) for note_id, values in found.items()]
        return self._read[name]

    def _rows(self, name: str) -> list[Row]:
        if not name.isascii():
            return self._catalog.rows("SELECT note_id, frontmatter FROM notes WHERE frontmatter != '{}'")
        sql = "SELECT note_id, frontmatter FROM notes WHERE frontmatter LIKE ? ESCAPE '\\'"
        return self._catalog.rows(sql, (f'%"{escape_like(json.dumps(name)[1:-1])}":%',))


def has_property(wanted: Property, fields: Mapping[str, JsonValue]) -> bool:
    """Whether the fields of a task have the property, with a value that passes its test."""
    name = fold_name(wanted.name)
    return name in fields and passes(wanted, fields[name])


def passes(wanted: Property, value: JsonValue) -> bool:
    """Whether the value of a property passes the test of a condition."""
    return wanted.test is None or holds(wanted.test, partial(_is_value, value))


def _is_value(value: JsonValue, test: Node) -> bool:
    if isinstance(test, Null):
        return value is None
    return any(_is(test, single) for single in _singles(value))


def _singles(value: JsonValue) -> Iterator[str | int | float | bool]:
    """Yields each item of a list, each value of a table, or the value itself."""
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
            return plain(text) in _readings(_as_text(value)) or _same_number_or_day(text, value)
        case Word(text, _):
            return _same_number_or_day(text, value) or (text_pattern(text).is_in(_as_text(value)))
        case _:
            return False


def _as_text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _readings(value: str) -> set[str]:
    """Returns a value as it is written, and as a reader sees it."""
    is_marked = not _MARKS.isdisjoint(value)
    return {plain(value), plain(readable(value).text)} if is_marked else {plain(value)}


def _same_number_or_day(text: str, value: object) -> bool:
    """Whether the value is the number in the text, or a time within the day, month or minute in the text."""
    wanted = number(text)
    if wanted is not None:
        return wanted == number(value)
    day, own = iso_date(text), iso_date(value)
    return day is not None and own is not None and own.startswith(day)


def _passes_comparison(test: Compare, value: object) -> bool:
    compare = _COMPARISONS[test.op]
    if isinstance(test.value, str):
        date = iso_date(value)
        # At the coarser precision: a day and a time as days, a month and a day as months.
        return date is not None and compare(date[: len(test.value)], test.value[: len(date)])
    measured = number(value)
    if measured is None and test.value in _YEARS and (date := iso_date(value)):
        return compare(int(date[:4]), test.value)
    return measured is not None and compare(measured, test.value)
