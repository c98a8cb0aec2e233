"""What just fits into a request and what does not, and how a wrong value is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from vault_indexer.contract.marks import Says, check_note_name, check_query, split_marks
from vault_indexer.contract.parameters import (
    Parameter,
    Value,
    WrongRequestError,
    check_bounds,
    own_name,
    parameters_of,
    validate,
)
from vault_indexer.errors import UsageError


@dataclass(frozen=True)
class Request:
    limit: Annotated[int, Says(help="Hits.", minimum=0, maximum=20)] = 0
    depth: Annotated[int, Says(help="Steps.", minimum=2, maximum=3)] = 2
    least: Annotated[float, Says(help="Least.", minimum=0, maximum=1)] = 0.5
    above: Annotated[float | None, Says(help="Above.", above=0, maximum=1)] = None
    name: Annotated[str, Says(help="Name.", min_chars=2, max_chars=4)] = "none"
    note: Annotated[str, Says(help="Note.", holds="note")] = ""


PARAMETERS = parameters_of(Request)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0),
        ("limit", 20),
        ("least", 0.0),
        ("least", 1.0),
        ("above", 1.0),
        ("above", 0.001),
        ("name", "ab"),
        ("name", "abcd"),
    ],
)
def test_what_just_fits_is_taken(name: str, value: Value) -> None:
    assert validate(PARAMETERS, {name: value}, is_strict=True)[name] == value


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("limit", -1, "greater than or equal to 0"),
        ("limit", 21, "less than or equal to 20"),
        ("least", -0.001, "greater than or equal to 0"),
        ("least", 1.001, "less than or equal to 1"),
        ("above", 0.0, "greater than 0"),
        ("above", float("inf"), "a finite number"),
        ("name", "a", "at least 2 characters"),
        ("name", "abcde", "at most 4 characters"),
    ],
)
def test_what_just_does_not_is_refused(name: str, value: Value, said: str) -> None:
    with pytest.raises(WrongRequestError, match=said):
        validate(PARAMETERS, {name: value}, is_strict=True)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(limit=0), ""),
        (Request(limit=20), ""),
        (Request(depth=1), "depth 1: allowed is 2 to 3"),
        (Request(depth=3), ""),
        (Request(depth=4), "depth 4: allowed is 2 to 3"),
        (Request(limit=-1), "limit -1: allowed is 1 to 20"),
        (Request(least=1.5), "least 1.5: allowed is 0 to 1"),
        (Request(least=0.0), ""),
        (Request(limit=21, depth=9), "limit 21: allowed is 1 to 20"),
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


def test_sixty_characters_of_a_wrong_value_are_shown() -> None:
    with pytest.raises(WrongRequestError) as error:
        validate(PARAMETERS, {"limit": "x" * 100}, is_strict=False)
    assert str(error.value).startswith(f'limit = "{"x" * 59}: Input')


def test_another_name_is_understood_and_the_own_one_counts_before_it() -> None:
    parameters = [Parameter(name="query", help="The query."), Parameter(name="n", help="A number.", kind=int)]
    assert validate(parameters, {"q": "x"}, is_strict=True) == {"query": "x", "n": None}
    with pytest.raises(WrongRequestError, match=r"^unknown key 'q'$"):
        validate(parameters, {"q": "x", "query": "y"}, is_strict=True)
    assert (own_name("q", ["query"]), own_name("query", ["q"]), own_name("q", ["a"])) == ("query", "q", "q")


def test_a_text_that_may_be_empty_has_no_least_length_in_the_schema() -> None:
    by_name = {one.name: one for one in PARAMETERS}
    assert by_name["note"].schema == {"type": "string", "maxLength": 4096}
    assert by_name["name"].schema == {"type": "string", "minLength": 2, "maxLength": 4}
    assert by_name["name"].max_bytes is None
    assert by_name["limit"].schema == {"type": "integer", "minimum": 0, "maximum": 20}
    required = Parameter(name="x", help="X.", holds="note", required=True)
    assert required.schema == {"type": "string", "minLength": 1, "maxLength": 4096}


@pytest.mark.parametrize(
    ("text", "size"), [("a" * 4096, 0), ("a" * 4097, 4097), ("é" * 2048, 0), ("é" * 2049, 4098)]
)
def test_a_query_and_a_name_have_at_most_4096_bytes(text: str, size: int) -> None:
    for check, what in ((check_query, "the query"), (check_note_name, "the path of the note")):
        try:
            check(text)
        except UsageError as error:
            assert str(error) == f"{what} has {size} bytes: at most 4096 are allowed"
        else:
            assert not size


def test_a_query_may_be_empty_only_while_it_is_typed() -> None:
    check_query("", may_be_empty=True)
    with pytest.raises(UsageError, match="at most 4096"):
        check_query("a" * 4097, may_be_empty=True)
    for text in ("", "  \n"):
        with pytest.raises(UsageError, match="the query is empty"):
            check_query(text)
        with pytest.raises(UsageError, match="no note is named"):
            check_note_name(text)


def test_marks_stand_beside_a_type() -> None:
    assert split_marks(Annotated[int, "a", "b"]) == (int, ("a", "b"))
    assert split_marks(int) == (int, ())
