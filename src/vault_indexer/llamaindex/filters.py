"""LlamaIndex's metadata filters as filters of the query language."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from vault_indexer.errors import UsageError
from vault_indexer.search.query import Node, parse_query

_Value = str | int | float

_COMPARISONS = frozenset({FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE})
_TEXTS = frozenset({FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE})
_LISTS = frozenset({FilterOperator.IN, FilterOperator.NIN, FilterOperator.ANY, FilterOperator.ALL})
_NEGATIONS = frozenset({FilterOperator.NE, FilterOperator.NIN})
_BOUNDS = {FilterOperator.GTE: "after", FilterOperator.LT: "before"}
_UNQUOTABLE = re.compile(r'["\[\]\n]')


def narrow_query(query: str, filters: MetadataFilters | None) -> str:
    """Returns the query with the filters added. Raises UsageError for a filter that the query language cannot
    express."""
    if filters is None or not filters.filters:
        return query
    # Without parentheses, the filters would belong to the first alternative of "a OR b" only. Words in
    # parentheses are required, so other queries get none. An unclosed quote in the query is text if no other
    # quote follows, so the filters come first.
    grouped = f"({query})"
    is_choice = _nodes(grouped) == _nodes(query)
    return f"{_group(filters)} {grouped if is_choice else query}".rstrip()


def _nodes(query: str) -> list[Node]:
    return [condition.node for condition in parse_query(query).conditions]


def _group(filters: MetadataFilters) -> str:
    terms = [_group(term) if isinstance(term, MetadataFilters) else _filter(term) for term in filters.filters]
    if filters.condition is FilterCondition.NOT:
        return f"-{_either(terms)}"
    return _either(terms) if filters.condition is FilterCondition.OR else " ".join(terms)


def _filter(term: MetadataFilter) -> str:
    if term.operator is FilterOperator.IS_EMPTY:
        name = _property_name(term)
        return f"([{name}:null] OR -[{name}])"
    if term.operator in _LISTS:
        values: list[_Value] = [*term.value] if isinstance(term.value, list) else []
    else:
        values = [] if term.value is None or isinstance(term.value, list) else [term.value]
    if not values:
        raise _refused(
            term, f"{term.operator.value} needs {'a list' if term.operator in _LISTS else 'a value'}"
        )
    write = _WRITERS.get(term.key, _write_property)
    terms = [write(term, value) for value in values]
    if term.operator is FilterOperator.ALL:
        return " ".join(terms)
    return f"{'-' if term.operator in _NEGATIONS else ''}{_either(terms)}"


def _either(terms: list[str]) -> str:
    return f"({' OR '.join(terms)})"


def _write_path(term: MetadataFilter, value: _Value) -> str:
    _refuse_comparison(term)
    if term.operator is FilterOperator.TEXT_MATCH_INSENSITIVE:
        return f"path:{_expression(term, value)}"
    if term.operator is FilterOperator.TEXT_MATCH:
        return f"path:match-case:{_expression(term, value)}"
    return f"path:match-case:/^{_expression(term, value)[1:-1]}$/"


def _write_operator(operator: str, term: MetadataFilter, value: _Value) -> str:
    _refuse_comparison(term)
    return f"{operator}:{_phrase(term, value)}"


def _write_time(term: MetadataFilter, value: _Value) -> str:
    if term.operator not in _BOUNDS:
        raise _refused(term, "allowed are >= and <")
    return f"{_BOUNDS[term.operator]}:{value}"


def _write_property(term: MetadataFilter, value: _Value) -> str:
    name = _property_name(term)
    if term.operator in _COMPARISONS:
        return f"[{name}:{term.operator.value}{value}]"
    if term.operator in _TEXTS:
        return f"[{name}:{_expression(term, value)}]"
    if isinstance(value, str):
        return f"[{name}:{_phrase(term, value)}]"
    return f"([{name}:>={value}] [{name}:<={value}])"


_WRITERS: dict[str, Callable[[MetadataFilter, _Value], str]] = {
    "path": _write_path,
    "tags": partial(_write_operator, "tag"),
    "language": partial(_write_operator, "lang"),
    "modified_time": _write_time,
}
"""The keys of a node's metadata that are no properties of the note, and can be filtered."""


def _property_name(term: MetadataFilter) -> str:
    if term.key in _WRITERS or not term.key or _UNQUOTABLE.search(term.key):
        raise _refused(term, "is not the name of a property")
    return f'"{term.key}"'


def _phrase(term: MetadataFilter, value: _Value) -> str:
    return '"{}"'.format(_line(term, value).replace("\\", "\\\\").replace('"', '\\"'))


def _expression(term: MetadataFilter, value: _Value) -> str:
    return "/{}/".format(re.escape(_line(term, value)).replace("/", "\\/"))


def _line(term: MetadataFilter, value: _Value) -> str:
    text = str(value)
    if not text.strip() or len(text.splitlines()) > 1:
        raise _refused(term, f"{text!r} is not a text of one line")
    return text


def _refuse_comparison(term: MetadataFilter) -> None:
    if term.operator in _COMPARISONS:
        raise _refused(term, f"{term.operator.value} is for properties and modified_time")


def _refused(term: MetadataFilter, reason: str) -> UsageError:
    return UsageError(f"metadata filter {term.key}: {reason}")
