"""The parameters of a request: the values that they take, their bounds, the words for one that is wrong."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.contract.marks import HIDDEN, Key, Says, Words
from vault_indexer.contract.parameters import (
    Parameter,
    Value,
    WrongRequestError,
    check_bounds,
    own_name,
    parameters_of,
    request_of,
    validate,
)
from vault_indexer.contract.requests import NotesRequest
from vault_indexer.errors import UsageError


class Request(NamedTuple):
    query: Annotated[str, Key("q"), Says(help="The query.", holds="query")]
    limit: Annotated[int, Says(help="Hits.", minimum=0, maximum=20)] = 0
    depth: Annotated[int, Says(help="Steps.", minimum=2, maximum=3)] = 2
    by_note: Annotated[bool, Key("by"), Words("chunk", "note"), Says(help="By.")] = False
    fresh: Annotated[bool, Says(help="Wait.")] = False
    least: Annotated[float, Says(help="Least.", minimum=0, maximum=1)] = 0.5
    above: Annotated[float | None, Says(help="Above.", above=0, maximum=1)] = None
    view: Annotated[Literal["a", "b", "c"], Says(help="View.")] = "a"
    name: Annotated[str, Says(help="Name.", min_chars=2, max_chars=4)] = "none"
    note: Annotated[str, Says(help="Note.", holds="note")] = ""
    stale: Annotated[bool, HIDDEN] = True


PARAMETERS = {one.name: one for one in parameters_of(Request)}
DEFAULTS: dict[str, Value] = {
    "q": "x",
    "limit": 0,
    "depth": 2,
    "by": "chunk",
    "fresh": False,
    "least": 0.5,
    "above": None,
    "view": "a",
    "name": "none",
    "note": "",
}


def checked(given: dict[str, object], *, is_strict: bool) -> dict[str, Value]:
    return validate(tuple(PARAMETERS.values()), given, is_strict=is_strict)


def test_the_parameters_are_the_fields_under_the_names_of_http() -> None:
    assert {name: one.default for name, one in PARAMETERS.items() if not one.required} | {
        "q": "x"
    } == DEFAULTS
    assert list(PARAMETERS) == list(DEFAULTS)
    assert PARAMETERS["by"].choices == ("chunk", "note")
    assert PARAMETERS["limit"].range == {"min": 0, "max": 20}
    assert PARAMETERS["name"].max_bytes is None


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("view", {"enum": ["a", "b", "c"], "type": "string"}),
        ("above", {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        ("q", {"type": "string", "minLength": 1, "maxLength": 4096}),
        ("note", {"type": "string", "maxLength": 4096}),
        ("name", {"type": "string", "minLength": 2, "maxLength": 4}),
        ("limit", {"type": "integer", "minimum": 0, "maximum": 20}),
    ],
)
def test_a_schema_has_the_bounds(name: str, schema: dict[str, object]) -> None:
    assert PARAMETERS[name].schema == schema


def taken(name: str, written: str, *, is_strict: bool) -> str:
    try:
        found = checked({"q": "x", name: json.loads(written)}, is_strict=is_strict)
    except WrongRequestError as error:
        return f"error: {error}"
    assert found == {**DEFAULTS, name: found[name]}
    return json.dumps(found[name])


def test_values_are_taken_or_named_as_the_golden_says() -> None:
    check_golden(
        Path(__file__).parent / "fixtures" / "parameters.md",
        {
            "In a query string": of_parts(partial(taken, is_strict=False)),
            "In a JSON body": of_parts(partial(taken, is_strict=True)),
        },
    )
    for text in ("x" * 100, "1" * 5_000):
        assert taken("limit", json.dumps(text), is_strict=False).startswith(f'error: limit = "{text[:59]}: ')
    large = "1" + "0" * 400
    assert (
        taken("above", large, is_strict=True)
        == f"error: above = {large[:60]}: Input should be a valid number"
    )


def test_all_problems_are_named_at_once() -> None:
    expected = (
        "q: is required; limit = \"99\": Input should be less than or equal to 20; unknown key 'colour'"
    )
    with pytest.raises(WrongRequestError) as error:
        checked({"limit": "99", "colour": "red"}, is_strict=False)
    assert str(error.value) == expected


def test_another_name_is_understood_and_the_own_one_counts_before_it() -> None:
    parameters = [Parameter(name="query", help="The query."), Parameter(name="n", help="A number.", kind=int)]
    assert validate(parameters, {"q": "x"}, is_strict=True) == {"query": "x", "n": None}
    with pytest.raises(WrongRequestError, match=r"^unknown key 'q'$"):
        validate(parameters, {"q": "x", "query": "y"}, is_strict=True)
    assert (own_name("q", ["query"]), own_name("query", ["q"]), own_name("q", ["a"])) == ("query", "q", "q")


def test_the_request_is_made_of_the_values() -> None:
    assert request_of(Request, DEFAULTS) == Request("x")
    assert request_of(Request, {**DEFAULTS, "by": "note"}) == Request("x", by_note=True)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request("x", limit=0), ""),
        (Request("x", limit=20), ""),
        (Request("x", depth=1), "depth 1: must be from 2 to 3"),
        (Request("x", depth=3), ""),
        (Request("x", depth=4), "depth 4: must be from 2 to 3"),
        (Request("x", limit=-1), "limit -1: must be from 1 to 20"),
        (Request("x", least=1.5), "least 1.5: must be from 0 to 1"),
        (Request("x", least=0.0), ""),
        (NotesRequest(offset=-1, limit=1), "offset -1: must be from 0 to 1000000000"),
        (Request("x", view="d"), "view 'd': choose one of a, b, c"),  # type: ignore[arg-type]
        (Request("x", limit=21, depth=9), "limit 21: must be from 1 to 20"),
    ],
    ids=str,
)
def test_a_request_is_within_its_bounds(request_: Request | NotesRequest, said: str) -> None:
    try:
        check_bounds(request_)
    except UsageError as error:
        assert str(error) == said
    else:
        assert said == ""
