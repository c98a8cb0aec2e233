"""Reads a `.base` file: its filters, formulas, names of properties, summaries and views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vault_indexer.bases.expressions import Expression, parse_expression
from vault_indexer.bases.scope import Scope
from vault_indexer.contract.json_value import JsonValue
from vault_indexer.errors import UsageError
from vault_indexer.text.yaml_values import YamlRefusedError, load_mapping

_MAX_FILTERS = 500
_FILTERS = ("and", "or", "not")


@dataclass(frozen=True, slots=True)
class Filter:
    """An expression, or several filters of which all, any or none must be true."""

    kind: str
    parts: Sequence[Filter] = ()
    expression: Expression | None = None

    def accepts(self, scope: Scope) -> bool:
        if self.expression is not None:
            return bool(self.expression(scope))
        if self.kind == "and":
            return all(part.accepts(scope) for part in self.parts)
        return any(part.accepts(scope) for part in self.parts) == (self.kind == "or")


@dataclass(frozen=True, slots=True)
class Sort:
    property: str
    is_descending: bool


@dataclass(frozen=True, slots=True)
class BaseTable:
    """A view of a base: what it shows, in which order."""

    name: str
    type: str
    filters: Sequence[Filter]
    columns: Sequence[str]
    sort: Sequence[Sort]
    group: Sort | None
    limit: int | None
    summaries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BaseDefinition:
    """A base; its formulas and its views are read when they are used. Errors name `path` and the key."""

    path: str
    values: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def view_names(self) -> list[str]:
        """The names of the views, in order; a base without views has one with all files."""
        names = [str(view.get("name") or f"View {at}") for at, view in enumerate(self._views(), 1)]
        return names or ["Table"]

    def formulas(self) -> dict[str, Expression]:
        found = _mapping(self.values.get("formulas"), self._place("formulas"))
        return {
            name: parse_expression(str(text), self._place(f"formulas.{name}")) for name, text in found.items()
        }

    def summary(self, name: str) -> Expression | None:
        """The formula of a summary of this base, or None."""
        found = _mapping(self.values.get("summaries"), self._place("summaries"))
        if name not in found:
            return None
        return parse_expression(str(found[name]), self._place(f"summaries.{name}"), ("values",))

    def display_name(self, name: str) -> str:
        properties = _mapping(self.values.get("properties"), self._place("properties"))
        plain = name.removeprefix("note.")
        found = (properties.get(key) for key in (name, plain, f"note.{plain}"))
        shown = next(
            (one["displayName"] for one in found if isinstance(one, dict) and "displayName" in one), ""
        )
        return str(shown or plain.removeprefix("formula.").removeprefix("file."))

    def view(self, name: str) -> BaseTable:
        """The view with a name, in any case; the first one for "". Raises UsageError."""
        names = self.view_names
        folded = [one.casefold() for one in names]
        if name and name.casefold() not in folded:
            raise UsageError(f"{self.path} has no view {name!r}; it has {', '.join(names)}")
        at = folded.index(name.casefold()) if name else 0
        views = self._views()
        view, place = (views[at] if views else {}), self._place(f"views[{at}]")
        group = view.get("groupBy")
        return BaseTable(
            names[at],
            str(view.get("type") or "table"),
            [*self._filters(self.values, self._place("filters")), *self._filters(view, f"{place}.filters")],
            [str(one) for one in _list(view.get("order"), f"{place}.order")] or ["file.name"],
            [_sort(one, f"{place}.sort") for one in _list(view.get("sort"), f"{place}.sort")],
            _sort(group, f"{place}.groupBy") if group else None,
            _limit(view.get("limit"), f"{place}.limit"),
            {k: str(v) for k, v in _mapping(view.get("summaries"), f"{place}.summaries").items()},
        )

    def _place(self, key: str) -> str:
        return f"{self.path}: {key}"

    def _views(self) -> list[Mapping[str, JsonValue]]:
        views = _list(self.values.get("views"), self._place("views"))
        return [_mapping(view, self._place(f"views[{at}]")) for at, view in enumerate(views)]

    def _filters(self, table: Mapping[str, JsonValue], place: str) -> list[Filter]:
        filters = table.get("filters")
        return [] if filters in (None, "", {}, []) else [_filter(filters, place, [_MAX_FILTERS])]


def read_definition(path: str, text: str) -> BaseDefinition:
    """Raises UsageError with the line for a file that is not YAML."""
    try:
        return BaseDefinition(path, load_mapping(text))
    except YamlRefusedError as error:
        raise UsageError(f"{path}{f', line {error.line}' if error.line else ''}: {error.detail}") from None


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
