"""The parameters of a request's dataclass: the values that they take, the words for one that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from vault_indexer.contract.marks import HIDDEN, Key, Says, Words
from vault_indexer.contract.parameters import (
    Value,
    WrongRequestError,
    check_bounds,
    parameters_of,
    request_of,
    validate,
)
from vault_indexer.errors import UsageError


@dataclass(frozen=True)
class Request:
    query: Annotated[str, Key("q"), Says(help="The query.", holds="query")]
    limit: Annotated[int, Says(help="Hits.", minimum=0, maximum=20)] = 0
    by_note: Annotated[bool, Key("by"), Words("chunk", "note"), Says(help="By.")] = False
    fresh: Annotated[bool, Says(help="Wait.")] = False
    least: Annotated[float | None, Says(help="Least.", above=0, maximum=1)] = None
    view: Annotated[Literal["a", "b", "c"], Says(help="View.")] = "a"
    name: Annotated[str, Says(help="Name.", min_chars=2, max_chars=4)] = "none"
    stale: Annotated[bool, HIDDEN] = True


PARAMETERS = parameters_of(Request)
DEFAULTS: dict[str, Value] = {
    "q": "x",
    "limit": 0,
    "by": "chunk",
    "fresh": False,
    "least": None,
    "view": "a",
    "name": "none",
}


def test_the_parameters_are_the_fields_under_the_names_of_http() -> None:
    assert [one.name for one in PARAMETERS] == list(DEFAULTS)
    assert {one.name: one.default for one in PARAMETERS if not one.required} | {"q": "x"} == DEFAULTS
    by_name = {one.name: one for one in PARAMETERS}
    assert by_name["by"].choices == ("chunk", "note")
    assert by_name["view"].schema == {"enum": ["a", "b", "c"], "type": "string"}
    assert by_name["least"].schema == {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    assert by_name["q"].schema == {"type": "string", "minLength": 1, "maxLength": 4096}
    assert by_name["limit"].range == {"min": 0, "max": 20}


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("limit", "12", 12),
        ("limit", " 12 ", 12),
        ("limit", "1_2", 12),
        ("limit", "12.0", 12),
        ("limit", "+3", 3),
        ("fresh", "TRUE", True),
        ("fresh", "on", True),
        ("fresh", "n", False),
        ("least", "5e-1", 0.5),
        ("by", "note", "note"),
        ("view", "c", "c"),
    ],
)
def test_a_query_string_has_texts(name: str, written: str, expected: Value) -> None:
    assert validate(PARAMETERS, {"q": "x", name: written}, is_strict=False) == {**DEFAULTS, name: expected}


def test_a_number_of_json_that_says_yes_or_no_is_a_truth_value() -> None:
    def fresh(value: object) -> Value:
        return validate(PARAMETERS, {"q": "x", "fresh": value}, is_strict=False)["fresh"]

    assert [fresh(1.0), fresh(0.0), fresh(1)] == [True, False, True]
    with pytest.raises(WrongRequestError, match=r"fresh = 0\.5: Input should be a valid boolean"):
        fresh(0.5)


def test_a_number_of_too_many_digits_is_none() -> None:
    with pytest.raises(WrongRequestError, match="unable to parse string as an integer"):
        validate(PARAMETERS, {"q": "x", "limit": "1" * 5_000}, is_strict=False)


@pytest.mark.parametrize(("name", "given"), [("limit", 2.0), ("least", 1), ("least", None), ("fresh", True)])
def test_a_body_has_types(name: str, given: Value) -> None:
    assert validate(PARAMETERS, {"q": "x", name: given}, is_strict=True) == {**DEFAULTS, name: given}


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("limit", "many", ' = "many": Input should be a valid integer, unable to parse string as an integer'),
        ("limit", "1.5", ' = "1.5": Input should be a valid integer, unable to parse string as an integer'),
        ("limit", "1.", ' = "1.": Input should be a valid integer, unable to parse string as an integer'),
        ("limit", "", ' = "": Input should be a valid integer, unable to parse string as an integer'),
        ("limit", 1.5, " = 1.5: Input should be a valid integer, got a number with a fractional part"),
        ("limit", [], ": Input should be a valid integer"),
        ("limit", "21", ' = "21": Input should be less than or equal to 20'),
        ("limit", "-1", ' = "-1": Input should be greater than or equal to 0'),
        ("least", "0", ' = "0": Input should be greater than 0'),
        ("least", "nan", ' = "nan": Input should be a finite number'),
        ("least", "x", ' = "x": Input should be a valid number, unable to parse string as a number'),
        ("fresh", "maybe", ' = "maybe": Input should be a valid boolean, unable to interpret input'),
        ("fresh", [], ": Input should be a valid boolean"),
        ("by", "word", " = \"word\": Input should be 'chunk' or 'note'"),
        ("view", "d", " = \"d\": Input should be 'a', 'b' or 'c'"),
        ("name", "a", ' = "a": String should have at least 2 characters'),
        ("name", "abcde", ' = "abcde": String should have at most 4 characters'),
    ],
)
def test_a_wrong_value_is_named(name: str, given: object, problem: str) -> None:
    with pytest.raises(WrongRequestError) as error:
        validate(PARAMETERS, {"q": "x", name: given}, is_strict=False)
    assert str(error.value) == name + problem


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("limit", "1", ' = "1": Input should be a valid integer'),
        ("limit", True, " = true: Input should be a valid integer"),
        ("fresh", 1, " = 1: Input should be a valid boolean"),
        ("least", "1", ' = "1": Input should be a valid number'),
        ("name", 7, " = 7: Input should be a valid string"),
        ("name", None, ": Input should be a valid string"),
    ],
)
def test_a_body_takes_no_value_of_another_type(name: str, given: object, problem: str) -> None:
    with pytest.raises(WrongRequestError) as error:
        validate(PARAMETERS, {"q": "x", name: given}, is_strict=True)
    assert str(error.value) == name + problem


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(WrongRequestError) as error:
        validate(PARAMETERS, {"limit": "99", "colour": "red"}, is_strict=False)
    expected = (
        "q: is required; limit = \"99\": Input should be less than or equal to 20; unknown key 'colour'"
    )
    assert str(error.value) == expected


def test_the_request_is_made_of_the_values() -> None:
    assert request_of(Request, DEFAULTS) == Request("x")
    assert request_of(Request, {**DEFAULTS, "by": "note"}) == Request("x", by_note=True)


def test_a_number_out_of_bounds_is_refused_however_it_was_made() -> None:
    check_bounds(Request("x", 20))
    with pytest.raises(UsageError, match=r"^limit 21: allowed is 1 to 20$"):
        check_bounds(Request("x", 21))
