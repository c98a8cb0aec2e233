"""The JSON of a dataclass and its schema: both follow the fields and what stands beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer import model
from vault_indexer.contract import Json
from vault_indexer.contract.codec import encode, encoder, json_fields, schema_of
from vault_indexer.contract.marks import FLAT, HIDDEN, OMIT_EMPTY, ON_REQUEST, ChosenKeys, Digits, Key


@dataclass(frozen=True)
class Size:
    width: int
    height: Annotated[int, HIDDEN] = 0


@dataclass(frozen=True)
class Open:
    extra: Mapping[str, object]

    def to_json(self) -> dict[str, object]:
        return dict(self.extra)


@dataclass(frozen=True)
class Thing:
    """What it is.

    What only this program needs to know.
    """

    name: Annotated[str, Key("from")]
    score: Annotated[float, Digits(2)]
    share: Annotated[float | None, Digits(1, (0.0, 1.0))]
    weights: Annotated[Mapping[str, float], Digits(1)]
    size: Annotated[Size, FLAT]
    sizes: tuple[Size, ...]
    marks: tuple[tuple[int, int], ...]
    kind: Literal["one", "two"]
    file: Path
    data: bytes
    open: Open | None
    secret: Annotated[str, HIDDEN] = "x"
    vault: Annotated[str, OMIT_EMPTY] = ""
    costly: Annotated[int, ON_REQUEST] = 7


@dataclass(frozen=True)
class Answer:
    things: Annotated[tuple[Thing, ...], ChosenKeys("keys")]
    keys: Annotated[frozenset[str] | None, HIDDEN] = None


THING = Thing(
    name="n",
    score=0.126,
    share=1.5,
    weights={"a": 0.55},
    size=Size(3, 4),
    sizes=(Size(1), Size(2)),
    marks=((1, 2),),
    kind="one",
    file=Path("a/b"),
    data=b"abc",
    open=Open({"any": 1}),
)
WHOLE = {
    "from": "n",
    "score": 0.13,
    "share": 1.0,
    "weights": {"a": 0.6},
    "width": 3,
    "sizes": [{"width": 1}, {"width": 2}],
    "marks": [[1, 2]],
    "kind": "one",
    "file": str(Path("a/b")),
    "data": "YWJj",
    "open": {"any": 1},
}


def test_the_json_follows_the_fields_in_their_order() -> None:
    found = encode(THING)
    assert found == WHOLE
    assert list(found) == list(WHOLE)


def test_a_key_may_be_missing_where_its_value_is_empty() -> None:
    assert encode(Thing(**{**vars(THING), "vault": "Work"}))["vault"] == "Work"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (None, WHOLE),
        (frozenset({"score"}), {"score": 0.13}),
        (frozenset({"costly", "width"}), {"width": 3, "costly": 7}),
    ],
)
def test_a_request_chooses_keys(keys: frozenset[str] | None, expected: Json) -> None:
    in_vault = Thing(**{**vars(THING), "vault": "Work"})
    also = {} if keys else {"vault": "Work"}
    assert encode(Answer((THING, in_vault), keys)) == {"things": [expected, {**expected, **also}]}
    assert encode(Answer((), keys)) == {"things": []}


def test_the_schema_says_what_the_json_is() -> None:
    schema: Any = schema_of(Thing)
    assert (schema["title"], schema["description"]) == ("Thing", "What it is.")
    assert schema["required"] == list(WHOLE)
    assert schema["properties"].keys() == {*WHOLE, "vault", "costly"}
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["one", "two"]}
    assert schema["properties"]["share"] == {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert schema["properties"]["weights"] == {"type": "object", "additionalProperties": {"type": "number"}}
    answer: Any = schema_of(Answer)
    assert "required" not in answer["properties"]["things"]["items"]


def test_a_type_without_json_is_a_mistake_of_the_code() -> None:
    @dataclass
    class Wrong:
        what: complex

    for make in (encoder, schema_of):
        with pytest.raises(TypeError, match="complex"):
            make(Wrong)


@given(st.floats(allow_nan=False, allow_infinity=False), st.dictionaries(st.text(), st.floats(0, 1)))
def test_numbers_are_rounded_as_python_rounds(score: float, weights: dict[str, float]) -> None:
    found = encode(Thing(**{**vars(THING), "score": score, "weights": weights, "share": None}))
    assert found["score"] == round(score, 2)
    assert found["share"] is None
    assert found["weights"] == {name: round(one, 1) for name, one in weights.items()}


def test_no_two_fields_of_an_answer_have_one_key() -> None:
    answers = [getattr(model, name) for name in model.__all__]
    for kind in (one for one in answers if isinstance(one, type) and is_dataclass(one)):
        keys = [one.key for one in json_fields(kind)]
        assert len(set(keys)) == len(keys), kind
