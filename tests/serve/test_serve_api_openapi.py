"""What `/openapi.json` says of the answers is what the answers are."""

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from serve_api import Api

from vault_indexer.contract import Json
from vault_indexer.contract.codec import schema_of
from vault_indexer.model import JsonValue, SearchAnswer

OPTIONAL = {"tree", "canvas", "boxes", "vault", "synonyms", "shared_tags"}
"""Keys that are left out if empty: of a hit, a backlink, a note as it is shown, or a related note."""

MARKS = {"snippet", "coverage", "more_before", "shared_count"}
"""Keys that tell the types with optional keys."""


def strict(schema: Any) -> Any:
    """The schema, in which each object has all of its keys and no others."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(one) for key, one in schema.items() if key != "properties"}
    if "properties" in schema:
        fields = {name: strict(one) for name, one in schema["properties"].items()}
        found |= {"properties": fields, "additionalProperties": False}
        if "required" in found:
            optional = OPTIONAL if MARKS & set(fields) else set[str]()
            found["required"] = [name for name in fields if name not in optional]
    return found


def misfits(value: JsonValue, schema: JsonValue) -> list[str]:
    """Where a value is not what a schema says; a key that the schema does not name is one, too."""
    return [str(one) for one in Draft202012Validator(strict(schema)).iter_errors(value)]


def test_the_check_below_can_fail() -> None:
    schema = schema_of(SearchAnswer)
    assert misfits({"query": "x"}, schema)
    state: JsonValue = {"generation": 1, "seq": 1, "pending": 0}
    right: Json = {"query": "x", "took_ms": 1, "index": state, "results": []}
    right |= {"notices": [], "corrections": [{"from": "a", "to": "b"}], "verdict": "none"}
    right |= {"missing_words": ["b"], "likely": 0}
    assert not misfits(right, schema)
    assert misfits({**right, "notices": [1]}, schema)
    with pytest.raises(TypeError, match="complex"):
        schema_of(complex)


@pytest.mark.parametrize(
    "target",
    [
        *("search?q=telescope&expand=note", "search?q=nothing+like+it+zzz"),
        *("search?q=telescope&fields=path,line", "explain?path=Sky&q=telescope", "status"),
        *("related?path=Sky", "links?path=Bread", "links?view=mentions&path=Sky", "links?view=unresolved"),
        *("links?view=orphans", "note?path=Sky.md", "graph?path=Sky&depth=2"),
        *("graph?q=telescope&related=false", "graph", "clusters", "clusters?by=community", "view?path=Bread"),
        *("chunks?path=Sky", "chunks?path=Sky&strategy=word", "chunks?path=Sky&strategy=llm"),
        *("complete?q=fi", "complete?q=path:", "health", "rebuild", "search?q=", "note?path=nowhere"),
    ],
)
def test_an_answer_is_what_the_document_says(api: Api, target: str) -> None:
    found = api.ask(f"/v1/{target}")
    told = described(api, target.partition("?")[0], "get")
    status = str(found.status) if found.status == 200 else "default"
    assert misfits(json.loads(found.body), told[status]) == []


@pytest.mark.parametrize(
    ("target", "body"),
    [("verify", b"{}"), ("rebuild", b'{"wait": false}'), ("rebuild", b"{}"), ("verify", b"[]")],
)
def test_an_order_is_answered_as_the_document_says(api: Api, target: str, body: bytes) -> None:
    found = api.post(f"/v1/{target}", body)
    told = described(api, target, "post")
    assert misfits(json.loads(found.body), told[str(found.status) if found.status < 400 else "default"]) == []


def test_a_stream_is_lines_of_what_the_document_says(api: Api) -> None:
    found = api.post("/v1/ask", b'{"q": "What does the telescope show?", "stream": true}')
    content = document_of(api)["paths"]["/v1/ask"]["post"]["responses"]["200"]["content"]
    schema = content[found.headers["content-type"]]["schema"]["properties"]
    lines = [json.loads(line) for line in found.body.splitlines()]
    assert lines[-1]["event"] == "answer"
    assert all(line.keys() == schema.keys() for line in lines)
    assert all(misfits(line["event"], schema["event"]) == [] for line in lines)


@cache
def described(api: Api, route: str, method: str) -> dict[str, Json]:
    """The schemas of a route's answers, by status."""
    responses = document_of(api)["paths"][f"/v1/{route}"][method]["responses"]
    return {
        status: one["content"]["application/problem+json" if status == "default" else "application/json"][
            "schema"
        ]
        for status, one in responses.items()
        if status != "304"  # without a body
    }


@cache
def document_of(api: Api) -> Any:
    """The document, with the schemas in the place of references to them."""
    document = json.loads(api.ask("/openapi.json").body)

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return resolved(document["components"]["schemas"][str(value["$ref"]).rpartition("/")[2]])
        return {key: resolved(part) for key, part in value.items()}

    return resolved(document)


def test_a_note_has_an_etag_that_changes_with_it(api: Api) -> None:
    for route in ("note", "view"):
        first = api.ask(f"/v1/{route}?path=Sky.md")
        etag = first.headers["etag"]
        again = api.ask(f"/v1/{route}?path=Sky.md", headers={"If-None-Match": f'"other", W/{etag}'})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
        other = api.ask(f"/v1/{route}?path=Bread", headers={"If-None-Match": etag})
        assert other.status == 200
        assert other.headers["etag"] != etag
