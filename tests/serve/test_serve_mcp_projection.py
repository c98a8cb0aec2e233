"""The part of an answer that an agent reads, and the schema of that part."""

from __future__ import annotations

import pytest

from vault_indexer.model import JsonValue
from vault_indexer.serve.mcp.budget import Schema, kept_schema, keys, merged_schema, project

KEEP = keys("path", "score", hits=keys("title"), note=keys("line"))
TEXT: Schema = {"type": "string"}


def test_keys_are_kept_whole_or_in_part() -> None:
    assert KEEP == {"path": None, "score": None, "hits": {"title": None}, "note": {"line": None}}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"score": 0, "more": 1, "path": ""}, {"path": "", "score": 0}),
        ({"path": None}, {}),
        ({"hits": [{"title": "a", "id": 1}, {"id": 2}]}, {"hits": [{"title": "a"}, {}]}),
        ({"note": {"line": False, "id": 1}}, {"note": {"line": False}}),
        ({"note": "text"}, {"note": "text"}),
        ({"path": {"any": [1]}}, {"path": {"any": [1]}}),
        ([{"path": 1}, 2], [{"path": 1}, 2]),
        ("text", "text"),
    ],
)
def test_a_value_keeps_its_keys_in_the_order_in_which_they_are_named(
    value: JsonValue, found: JsonValue
) -> None:
    projected = project(value, KEEP)
    assert projected == found
    if isinstance(projected, dict) and isinstance(found, dict):
        assert list(projected) == list(found)
    assert project(value, None) is value


SCHEMA: Schema = {
    "type": "object",
    "title": "Hit",
    "properties": {
        "path": {"type": "string", "title": "Path", "description": "x", "enum": ["a"]},
        "more": TEXT,
        "score": {"anyOf": [{"type": "number", "title": "Score"}, {"type": "null"}]},
        "hits": {"type": "array", "title": "Hits", "items": {"properties": {"title": TEXT, "id": TEXT}}},
        "note": {"anyOf": [TEXT, {"type": "integer"}]},
    },
    "required": ["path", "more", "score", "note"],
}
PATH: Schema = {"type": "string", "enum": ["a"]}


def test_the_schema_of_a_part_has_its_keys_and_which_are_always_there() -> None:
    assert kept_schema(SCHEMA, KEEP) == {
        "type": "object",
        "properties": {
            "path": PATH,
            "score": {"type": "number"},
            "hits": {
                "type": "array",
                "items": {"type": "object", "properties": {"title": TEXT}, "required": []},
            },
            "note": {},
        },
        "required": ["path", "note"],
    }
    assert kept_schema(SCHEMA, keys("more", "unknown")) == {
        "type": "object",
        "properties": {"more": TEXT},
        "required": ["more"],
    }


def test_the_schema_of_a_whole_value_has_all_of_its_keys() -> None:
    found = kept_schema(SCHEMA, None)
    assert list(found["properties"] or ()) == ["path", "more", "score", "hits", "note"]  # type: ignore[arg-type]
    assert found["required"] == ["path", "more", "note"]


def test_a_value_that_may_be_null_is_of_its_other_type() -> None:
    assert kept_schema({"anyOf": [SCHEMA, {"type": "null"}]}, keys("path")) == {
        "type": "object",
        "properties": {"path": PATH},
        "required": ["path"],
    }


def test_an_answer_of_several_shapes_requires_what_all_of_them_have() -> None:
    def shape(*names: str) -> Schema:
        return {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": list(names)}

    assert merged_schema([shape("b", "a", "c"), shape("a", "b"), shape("d", "b", "a")]) == {
        "type": "object",
        "properties": dict.fromkeys(("b", "a", "c", "d"), TEXT),
        "required": ["b", "a"],
    }
