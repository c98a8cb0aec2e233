"""What `/openapi.json` says of the answers is what the answers are."""

import json
from functools import cache
from typing import Any

import pytest
from contract_goldens import GOLDENS
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from serve_api import Api

from vault_indexer.contract import Json
from vault_indexer.contract.codec import schema_of
from vault_indexer.model import JsonValue, SearchAnswer


def strict(schema: Any) -> Any:
    """The schema, in which each object has no other keys."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {key: strict(one) for key, one in schema.items()} | closed


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


@cache
def document() -> Any:
    """The document of the golden, with the schemas in the place of references to them."""
    whole = golden("openapi")

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return resolved(whole["components"]["schemas"][str(value["$ref"]).rpartition("/")[2]])
        return {key: resolved(part) for key, part in value.items()}

    return resolved(whole)


def golden(name: str) -> Any:
    return json.loads((GOLDENS / f"{name}.json").read_text("utf-8"))


def schema_for(route: str, method: str, status: int, kind: str = "application/json") -> Any:
    """The schema of an answer; of an error, if it is no success."""
    responses = document()["paths"][f"/v1/{route}"][method.lower()]["responses"]
    if status >= 400:
        return responses["default"]["content"]["application/problem+json"]["schema"]
    return responses[str(status)]["content"][kind]["schema"]


@pytest.mark.parametrize("vault", ["demo", "hostile"])
def test_the_answers_of_the_goldens_are_what_the_document_says(vault: str) -> None:
    hidden = {"click", "judge", "nothing"}
    for request, answer in golden(f"answers-{vault}").items():
        method, target, *_ = request.split(" ")
        route = target.partition("?")[0]
        if route in hidden:
            continue
        for hit in answer["body"].get("results", ()):
            hit.pop("shares", "a key that the document leaves out")
        assert misfits(answer["body"], schema_for(route, method, answer["status"])) == [], request


@pytest.mark.parametrize("body", [b'{"wait": false}', b"{}"])
def test_a_rebuild_is_answered_as_the_document_says(api: Api, body: bytes) -> None:
    found = api.post("/v1/rebuild", body)
    assert misfits(json.loads(found.body), schema_for("rebuild", "POST", found.status)) == []


def test_a_stream_is_lines_of_what_the_document_says() -> None:
    schema = schema_for("ask", "POST", 200, "application/x-ndjson")["properties"]
    lines = golden("stream")
    assert lines[-1]["event"] == "answer"
    assert all(line.keys() == schema.keys() for line in lines)
    assert all(misfits(line["event"], schema["event"]) == [] for line in lines)


def test_a_note_has_an_etag_that_changes_with_it(api: Api) -> None:
    for route in ("note", "view"):
        first = api.ask(f"/v1/{route}?path=Sky.md")
        etag = first.headers["etag"]
        again = api.ask(f"/v1/{route}?path=Sky.md", headers={"If-None-Match": f'"other", W/{etag}'})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
        other = api.ask(f"/v1/{route}?path=Bread", headers={"If-None-Match": etag})
        assert other.status == 200
        assert other.headers["etag"] != etag
