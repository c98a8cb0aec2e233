"""The table of endpoints agrees with the functions that answer, with the model and with its callers."""

from __future__ import annotations

import inspect
from typing import get_args, get_type_hints

import pytest

from vault_indexer.errors import UsageError
from vault_indexer.model import Expand
from vault_indexer.serve.answers import FUNCTIONS
from vault_indexer.serve.endpoints import (
    ALL_LINKS,
    ENDPOINTS,
    MENTIONS,
    ORPHANS,
    REBUILD,
    REBUILD_STATE,
    RELATED,
    SEARCH,
    UNRESOLVED,
    Value,
)
from vault_indexer.serve.openapi import answer_type


def test_each_endpoint_has_a_name_and_a_route_of_its_own() -> None:
    assert len({one.name for one in ENDPOINTS}) == len(ENDPOINTS)
    assert len({(one.method, one.path) for one in ENDPOINTS}) == len(ENDPOINTS)


def test_each_endpoint_but_the_rebuild_has_a_function_with_its_parameters() -> None:
    taken = {
        name: [one.name for one in inspect.signature(function).parameters.values()][1:]
        for name, function in FUNCTIONS.items()
    }
    assert taken["ask"] == ["q", "limit", "options"]
    expected = {one.name: [each.name for each in one.parameters] for one in ENDPOINTS}
    taken["ask"] = expected["ask"]
    assert taken == {
        name: names for name, names in expected.items() if name not in (REBUILD.name, REBUILD_STATE.name)
    }


def test_each_function_returns_what_its_row_says() -> None:
    rows = {one.name: answer_type(one.answer) for one in ENDPOINTS}
    returned = {name: get_type_hints(function)["return"] for name, function in FUNCTIONS.items()}
    assert returned == {name: rows[name] for name in FUNCTIONS}


def test_a_default_is_a_value_that_the_endpoint_takes() -> None:
    for parameter in (each for one in ENDPOINTS for each in one.parameters):
        if parameter.choices:
            assert parameter.default in parameter.choices
        elif parameter.default is not None:
            assert type(parameter.default) is parameter.kind


def test_the_ways_to_expand_are_those_of_the_model() -> None:
    choices = {one.name: one.choices for one in SEARCH.parameters}
    assert choices["expand"] == get_args(Expand)


def test_each_view_of_the_links_is_a_choice_of_the_parameter() -> None:
    choices = {one.name: one.choices for one in ALL_LINKS.parameters}
    assert choices["view"] == ("note", *(one.fixed["view"] for one in (MENTIONS, UNRESOLVED, ORPHANS)))


def test_arguments_are_the_values_that_are_not_the_default() -> None:
    assert SEARCH.arguments({"q": "x", "limit": 0, "fresh": True}) == {"q": "x", "fresh": True}
    assert RELATED.arguments({"path": "Sky", "limit": 10}) == {"path": "Sky"}
    assert MENTIONS.arguments({"path": "Sky", "limit": None}) == {"view": "mentions", "path": "Sky"}
    assert MENTIONS.all_arguments({"path": "Sky"}) == {"path": "Sky", "view": "mentions", "limit": None}


@pytest.mark.parametrize("given", [{"q": "x", "colour": "red"}, {"limit": 3}])
def test_a_parameter_that_is_unknown_or_missing_is_a_mistake_of_the_caller(given: dict[str, Value]) -> None:
    with pytest.raises(TypeError, match="search takes"):
        SEARCH.arguments(given)


def test_a_text_that_is_empty_or_too_long_is_refused_before_it_is_sent() -> None:
    with pytest.raises(UsageError, match="the query is empty"):
        SEARCH.arguments({"q": " "})
    assert SEARCH.arguments({"q": "", "as_you_type": True}) == {"q": "", "as_you_type": True}
    with pytest.raises(UsageError, match="the query has 5000 bytes"):
        SEARCH.arguments({"q": "x" * 5000})
    with pytest.raises(UsageError, match="the path of the note has 5000 bytes"):
        MENTIONS.arguments({"path": "x" * 5000})
    with pytest.raises(UsageError, match="no note is named"):
        RELATED.arguments({"path": ""})
