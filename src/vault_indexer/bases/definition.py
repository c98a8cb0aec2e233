"""Reads a `.base` file: its filters, formulas, names of properties, summaries and views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from vault_indexer.bases.expressions import ANY_FORMULA, Expression, parse_expression
from vault_indexer.bases.scope import Scope
from vault_indexer.contract import JsonValue
from vault_indexer.errors import UsageError
from vault_indexer.parse import code_blocks
from vault_indexer.system import record
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping

_MAX_FILTERS = 500
_FILTERS = ("and", "or", "not")
_BASE_FENCE = re.compile(r"[`~]{3,}[ \t]*base\s*")


@record
class Filter:
    """An expression, or several filters of which all, any or none must be true."""

    kind: str
    parts: Sequence[Filter] = ()
    expression: Expression | None = None

    def expressions(self) -> Iterator[Expression]:
        if self.expression is not None:
            yield self.expression
        for part in self.parts:
            yield from part.expressions()

    def accepts(self, scope: Scope) -> bool:
        if self.expression is not None:
            return bool(self.expression(scope))
        if self.kind == "and":
            return all(part.accepts(scope) for part in self.parts)
        return any(part.accepts(scope) for part in self.parts) == (self.kind == "or")


@record
class Sort:
    property: str
    is_descending: bool


@record
class BaseTable:
    """A view of a base: its rows and columns, and their order."""

    name: str
    type: str
    filters: Sequence[Filter]
    columns: Sequence[str]
    sort: Sequence[Sort]
    group: Sort | None
    limit: int | None
    summaries: Mapping[str, str]


@record
class BaseDefinition:
    """A base; its formulas and its views are read when they are used. Errors name `path` and the key.

    `line` is that of the note `path` at which the base begins as a block of code; 0 for a file of its own.
    """

    path: str
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    line: int = 0

    @property
    def view_names(self) -> list[str]:
        """The names of the views, in order; a base without views has one with all files."""
        names = [str(view.get("name") or f"View {at}") for at, view in enumerate(self._views(), 1)]
        return names or ["Table"]

    def formulas(self, users: Iterable[Expression]) -> dict[str, Expression]:
        """The formulas that some expressions use, and those that these use. Raises UsageError."""
        texts = _mapping(self.values.get("formulas"), self.place("formulas"))
        found: dict[str, Expression] = {}
        waiting = [name for expression in users for name in expression.formulas]
        while waiting:
            name = waiting.pop()
            if name == ANY_FORMULA:
                waiting += texts
            elif name in texts and name not in found:
                found[name] = parse_expression(str(texts[name]), self.place(f"formulas.{name}"))
                waiting += found[name].formulas
        return found

    def summary(self, name: str) -> Expression | None:
        """The formula of a summary of this base, or None."""
        found = _mapping(self.values.get("summaries"), self.place("summaries"))
        if name not in found:
            return None
        return parse_expression(str(found[name]), self.place(f"summaries.{name}"), ("values",))

    def display_name(self, name: str) -> str:
        properties = _mapping(self.values.get("properties"), self.place("properties"))
        plain = name.removeprefix("note.")
        found = (properties.get(key) for key in (name, plain, f"note.{plain}"))
        shown = next(
            (one["displayName"] for one in found if isinstance(one, dict) and "displayName" in one), ""
        )
        return str(shown or plain.removeprefix("formula.").removeprefix("file."))

    def view(self, name: str) -> BaseTable:
        """The view with a name, in any case; the first one for "". Raises UsageError if it is wrong."""
        names = self.view_names
        at = [one.casefold() for one in names].index(name.casefold()) if name else 0
        views = self._views()
        view, place = (views[at] if views else {}), self.place(f"views[{at}]")
        group = view.get("groupBy")
        return BaseTable(
            names[at],
            str(view.get("type") or "table"),
            [*self._filters(self.values, self.place("filters")), *self._filters(view, f"{place}.filters")],
            [str(one) for one in _list(view.get("order"), f"{place}.order")] or ["file.name"],
            [_sort(one, f"{place}.sort") for one in _list(view.get("sort"), f"{place}.sort")],
            _sort(group, f"{place}.groupBy") if group else None,
            _limit(view.get("limit"), f"{place}.limit"),
            {k: str(v) for k, v in _mapping(view.get("summaries"), f"{place}.summaries").items()},
        )

    def place(self, key: str) -> str:
        """The place of a key, for messages."""
        return f"{self.path}{f', line {self.line}' if self.line else ''}: {key}"

    def _views(self) -> list[Mapping[str, JsonValue]]:
        views = _list(self.values.get("views"), self.place("views"))
        return [_mapping(view, self.place(f"views[{at}]")) for at, view in enumerate(views)]

    def _filters(self, table: Mapping[str, JsonValue], place: str) -> list[Filter]:
        filters = table.get("filters")
        return [] if filters in (None, "", {}, []) else [_filter(filters, place, [_MAX_FILTERS])]


def read_definition(path: str, text: str, line: int = 0) -> BaseDefinition:
    """Reads the base of a file, or of the block of code that begins at a line of a note. Raises UsageError
    with the line if the text is not YAML."""
    try:
        return BaseDefinition(path, load_mapping(text), line)
    except YamlRefusedError as error:
        at = line + error.line if error.line else line
        raise UsageError(f"{path}{f', line {at}' if at else ''}: {error.detail}") from None


def read_definitions_in_note(path: str, text: str, line: int = 0) -> list[BaseDefinition]:
    """Reads the bases in a note's blocks of code, or only that at a line. Raises UsageError without one."""
    blocks = {first: source for first, source in _base_blocks(text) if line in (0, first)}
    if not blocks:
        raise UsageError(f"{path} has no block of code with a base{f' at line {line}' if line else ''}")
    return [read_definition(path, source, first) for first, source in blocks.items()]


def choose_view(definitions: Sequence[BaseDefinition], name: str) -> tuple[BaseDefinition, BaseTable]:
    """Returns the first base with the named view in any case ("": any), and the view. Raises UsageError."""
    for definition in definitions:
        if not name or name.casefold() in map(str.casefold, definition.view_names):
            return definition, definition.view(name)
    names = ", ".join(view for definition in definitions for view in definition.view_names)
    raise UsageError(f"{definitions[0].path} has no view {name!r}; it has {names}")


def _base_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the source of each block of code whose language is `base`."""
    for start, end, lead in code_blocks(text):
        size = len(lead)
        # Without the indentation and the marks of quotes before each line.
        rows = [row[:size].lstrip("> \t") + row[size:] for row in text[start:end].splitlines()]
        if _BASE_FENCE.fullmatch(text[start + size :].partition("\n")[0]):
            is_closed = len(rows) > 1 and rows[-1].strip()[:3] in ("```", "~~~")
            yield text.count("\n", 0, start) + 1, "\n".join(rows[1 : -1 if is_closed else None])


def property_expression(name: str, place: str) -> Expression:
    """The expression for the name of a column, as views name it: `note.price`, `file.name`, `my key`."""
    kind, _, rest = name.partition(".")
    if kind == "file" and rest:
        return parse_expression(name, place)
    if kind in ("note", "formula") and rest:
        name = rest
    else:
        kind = "note"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return parse_expression(f'{kind}["{escaped}"]', place)


def _filter(value: JsonValue, place: str, room: list[int]) -> Filter:
    room[0] -= 1
    if room[0] < 0:
        raise UsageError(f"{place}: more than {_MAX_FILTERS} filters")
    if isinstance(value, str | bool):
        return Filter(
            "", (), parse_expression(str(value).lower() if isinstance(value, bool) else value, place)
        )
    if isinstance(value, list):
        return Filter("and", [_filter(one, place, room) for one in value])
    if not isinstance(value, dict) or set(value) - set(_FILTERS):
        raise UsageError(
            f"{place}: must be a text or have the keys {', '.join(_FILTERS)}, not {str(value)[:80]!r}"
        )
    parts = [
        Filter(
            kind,
            [
                _filter(one, f"{place}.{kind}", room)
                for one in (inner if isinstance(inner, list) else [inner])
            ],
        )
        for kind, inner in value.items()
        if inner not in (None, [])
    ]
    return parts[0] if len(parts) == 1 else Filter("and", parts)


def _sort(value: JsonValue, place: str) -> Sort:
    if isinstance(value, str):
        return Sort(value, False)
    given = _mapping(value, place)
    name, direction = given.get("property", given.get("column")), str(given.get("direction") or "ASC").upper()
    if not name or direction not in ("ASC", "DESC"):
        raise UsageError(f"{place}: must have a property and the direction ASC or DESC")
    return Sort(str(name), direction == "DESC")


def _limit(value: JsonValue, place: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"{place}: must be a whole number, not {str(value)[:40]!r}")
    return value or None


def _mapping(value: JsonValue, place: str) -> dict[str, JsonValue]:
    if value is not None and not isinstance(value, dict):
        raise UsageError(f"{place}: must be keys with values, not {str(value)[:40]!r}")
    return value or {}


def _list(value: JsonValue, place: str) -> list[JsonValue]:
    if value is not None and not isinstance(value, list):
        raise UsageError(f"{place}: must be a list, not {str(value)[:40]!r}")
    return value or []
