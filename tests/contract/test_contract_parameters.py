"""The parameters of a request: the values that they take, their bounds, the words for one that is wrong."""

from typing import Annotated, Literal, NamedTuple

import pytest

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
NOT_INT = "Input should be a valid integer, unable to parse string as an integer"
JSON, TEXT = True, False
"""A body with types, and a query string."""


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


@pytest.mark.parametrize(
    ("is_strict", "name", "given", "expected"),
    [
        *[(TEXT, "limit", text, 12) for text in ("12", " 12 ", "1_2", "12.0", "+12")],
        (TEXT, "fresh", "TRUE", True),
        (TEXT, "fresh", "on", True),
        (TEXT, "fresh", "n", False),
        (TEXT, "fresh", 1.0, True),
        (TEXT, "fresh", 0.0, False),
        (TEXT, "fresh", 1, True),
        (TEXT, "above", "5e-1", 0.5),
        (TEXT, "by", "note", "note"),
        (TEXT, "view", "c", "c"),
        *[(JSON, "limit", number, number) for number in (0, 20, 2.0)],
        *[(JSON, "least", number, number) for number in (0.0, 1.0, 1)],
        *[(JSON, "above", number, number) for number in (0.001, 1.0, None)],
        (JSON, "fresh", True, True),
        (JSON, "name", "ab", "ab"),
        (JSON, "name", "abcd", "abcd"),
    ],
)
def test_a_value_is_taken(is_strict: bool, name: str, given: object, expected: Value) -> None:
    assert checked({"q": "x", name: given}, is_strict=is_strict) == {**DEFAULTS, name: expected}


@pytest.mark.parametrize(
    ("is_strict", "name", "given", "problem"),
    [
        *[(TEXT, "limit", text, f' = "{text}": {NOT_INT}') for text in ("many", "1.5", "1.", "")],
        (TEXT, "limit", "x" * 100, f' = "{"x" * 59}: {NOT_INT}'),
        (TEXT, "limit", "1" * 5_000, f' = "{"1" * 59}: {NOT_INT}'),
        (TEXT, "limit", 1.5, " = 1.5: Input should be a valid integer, got a number with a fractional part"),
        (TEXT, "limit", [], ": Input should be a valid integer"),
        (TEXT, "limit", "21", ' = "21": Input should be less than or equal to 20'),
        (TEXT, "limit", "-1", ' = "-1": Input should be greater than or equal to 0'),
        (TEXT, "above", "0", ' = "0": Input should be greater than 0'),
        (TEXT, "above", "nan", ' = "nan": Input should be a finite number'),
        (TEXT, "above", "x", ' = "x": Input should be a valid number, unable to parse string as a number'),
        (TEXT, "fresh", "maybe", ' = "maybe": Input should be a valid boolean, unable to interpret input'),
        (TEXT, "fresh", 0.5, " = 0.5: Input should be a valid boolean"),
        (TEXT, "fresh", [], ": Input should be a valid boolean"),
        (TEXT, "by", "word", " = \"word\": Input should be 'chunk' or 'note'"),
        (TEXT, "view", "d", " = \"d\": Input should be 'a', 'b' or 'c'"),
        (JSON, "limit", "1", ' = "1": Input should be a valid integer'),
        (JSON, "limit", True, " = true: Input should be a valid integer"),
        (JSON, "limit", 21, " = 21: Input should be less than or equal to 20"),
        (JSON, "fresh", 1, " = 1: Input should be a valid boolean"),
        (JSON, "least", "1", ' = "1": Input should be a valid number'),
        (JSON, "least", -0.001, " = -0.001: Input should be greater than or equal to 0"),
        (JSON, "least", 1.001, " = 1.001: Input should be less than or equal to 1"),
        (JSON, "above", float("inf"), " = Infinity: Input should be a finite number"),
        (JSON, "name", "a", ' = "a": String should have at least 2 characters'),
        (JSON, "name", "abcde", ' = "abcde": String should have at most 4 characters'),
        (JSON, "name", 7, " = 7: Input should be a valid string"),
        (JSON, "name", None, ": Input should be a valid string"),
    ],
)
def test_a_wrong_value_is_named(is_strict: bool, name: str, given: object, problem: str) -> None:
    with pytest.raises(WrongRequestError) as error:
        checked({"q": "x", name: given}, is_strict=is_strict)
    assert str(error.value).startswith(name + problem)


def test_all_problems_are_named_at_once() -> None:
    expected = (
        "q: is required; limit = \"99\": Input should be less than or equal to 20; unknown key 'colour'"
    )
    with pytest.raises(WrongRequestError) as error:
        checked({"limit": "99", "colour": "red"}, is_strict=TEXT)
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
        (Request("x", limit=21, depth=9), "limit 21: must be from 1 to 20"),
    ],
    ids=str,
)
def test_a_request_is_within_its_bounds(request_: Request, said: str) -> None:
    try:
        check_bounds(request_)
    except UsageError as error:
        assert str(error) == said
    else:
        assert said == ""
