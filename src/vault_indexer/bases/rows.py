"""The rows of a view of a base, from the files in the index."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from vault_indexer.bases.definition import BaseDefinition, BaseTable, Sort, property_expression
from vault_indexer.bases.expressions import Expression
from vault_indexer.bases.scope import Evaluation, Scope, VaultFiles
from vault_indexer.bases.values import Link, Value, as_json, is_empty, kind_of_value, sort_key
from vault_indexer.errors import UsageError
from vault_indexer.model import BaseColumn, BaseRow, BaseView, JsonValue

MAX_SECONDS = 10.0
"""For all rows of a view."""


def base_view(
    files: VaultFiles, definition: BaseDefinition, table: BaseTable, this: str, *, limit: int, now: datetime
) -> BaseView:
    """Returns the rows of a view of a base, at most `limit`. `this` is the path of the file that shows it,
    and `now` has no zone.

    A value that cannot be calculated for one row is an object with the key `error` in its cell. One that a
    filter, an order or a group needs is an error, as is everything that is not supported. Raises UsageError
    and QueryTimeoutError.
    """
    place = definition.place
    columns = [property_expression(name, place("order")) for name in table.columns]
    group = _expression(table.group, place) if table.group else None
    sorts = [(_expression(sort, place), sort.is_descending) for sort in reversed(table.sort)]
    if table.group and group:
        sorts.append((group, table.group.is_descending))
    conditions = [expression for one in table.filters for expression in one.expressions()]
    totals = filter(None, map(definition.summary, table.summaries.values()))
    formulas = definition.formulas([*columns, *conditions, *(sort for sort, _ in sorts), *totals])
    evaluation = Evaluation(files, files.files[this], now, time.monotonic() + MAX_SECONDS, formulas)
    rows = [Scope(evaluation, file) for _, file in sorted(files.files.items())]
    rows = [row for row in rows if _accepts(table, row)]
    for expression, is_descending in sorts:
        rows = _sorted(rows, expression, is_descending=is_descending)
    count = len(rows)
    rows = rows[: table.limit]
    if not table.summaries:
        rows = rows[:limit]  # only summaries need the cells of the others
    cells = [[_cell(column, row) for column in columns] for row in rows]
    summaries = (
        _summary(definition.summary, table.summaries[name], [line[at] for line in cells], evaluation)
        if name in table.summaries
        else None
        for at, name in enumerate(table.columns)
    )
    return BaseView(
        definition.path,
        table.name,
        table.type,
        tuple(definition.view_names),
        tuple(
            BaseColumn(name, definition.display_name(name), table.summaries.get(name, ""), as_json(summary))
            for name, summary in zip(table.columns, summaries, strict=True)
        ),
        tuple(
            BaseRow(row.file.path, tuple(map(_cell_json, line)), as_json(group(row)) if group else None)
            for row, line in zip(rows[:limit], cells, strict=False)
        ),
        count,
        definition.display_name(table.group.property) if table.group else "",
    )


def _accepts(table: BaseTable, row: Scope) -> bool:
    row.tick()
    try:
        return all(one.accepts(row) for one in table.filters)
    except UsageError as error:
        raise UsageError(f"{error} for {row.file.path}") from None


def _expression(sort: Sort, place: Callable[[str], str]) -> Expression:
    return property_expression(sort.property, place(sort.property))


def _sorted(rows: list[Scope], expression: Expression, *, is_descending: bool) -> list[Scope]:
    """The rows in order, those with an empty value last."""
    values = [(expression(row), row) for row in rows]
    full = [(sort_key(value), row) for value, row in values if not is_empty(value)]
    full.sort(key=lambda pair: pair[0], reverse=is_descending)
    return [*(row for _, row in full), *(row for value, row in values if is_empty(value))]


def _cell(column: Expression, row: Scope) -> Value:
    """The value of a cell, or the error of its formula."""
    row.tick()
    try:
        found = column(row)
    except UsageError as error:
        return error
    return Link(row.file.path, row.file.path) if column.text == "file.name" else found


def _cell_json(value: Value) -> JsonValue:
    return {"error": str(value)} if isinstance(value, UsageError) else as_json(value)


# Summaries.


def _summary(
    custom: Callable[[str], Expression | None], name: str, cells: Sequence[Value], evaluation: Evaluation
) -> Value:
    values = [value for value in cells if not isinstance(value, UsageError)]
    if expression := custom(name):
        return expression(Scope(evaluation, evaluation.this, {"values": values}))
    if name not in SUMMARIES:
        raise UsageError(f"summary {name!r} is not supported; there are {', '.join(SUMMARIES)}")
    kind, function = SUMMARIES[name]
    if name == "Range" and any(isinstance(value, datetime) for value in values):
        kind, function = "date", lambda dates: round((max(dates) - min(dates)).total_seconds() * 1000)
    if kind == "any":
        return function(values)
    chosen = [value for value in values if kind_of_value(value) == kind]
    return function(chosen) if chosen else None


SUMMARIES: Mapping[str, tuple[str, Callable[[Sequence[Any]], Value]]] = MappingProxyType(
    {
        "Average": ("number", statistics.fmean),
        "Min": ("number", min),
        "Max": ("number", max),
        "Sum": ("number", math.fsum),
        "Range": ("number", lambda numbers: max(numbers) - min(numbers)),
        "Median": ("number", statistics.median),
        "Stddev": ("number", statistics.pstdev),
        "Earliest": ("date", min),
        "Latest": ("date", max),
        "Checked": ("any", lambda values: sum(value is True for value in values)),
        "Unchecked": ("any", lambda values: sum(value is False for value in values)),
        "Empty": ("any", lambda values: sum(map(is_empty, values))),
        "Filled": ("any", lambda values: sum(not is_empty(value) for value in values)),
        "Unique": ("any", lambda values: len({json.dumps(as_json(value)) for value in values})),
    }
)
"""The type of the values that each takes, and its function."""
