"""Each route takes the parameters that `/openapi.json` and the guide name, and no others."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from mcp_clients import answer
from serve_api import Api

from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.api.respond import extension_routes

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
REQUIRED = {"q": "telescope", "path": "Sky"}
"""A right value for each parameter that a route requires (and `path` where a view needs it)."""

QUESTIONS = (
    *("search", "explain", "related", "links", "note", "status", "rebuild"),
    *("view", "picture", "chunks", "clusters", "complete", "health"),
)


@cache
def documented(api: Api, route: str) -> dict[str, dict[str, Any]]:
    """The parameters of a route by name, as the OpenAPI document describes them."""
    paths: Any = api.ask("/openapi.json").json["paths"]
    return {one["name"]: one for one in paths[f"/v1/{route}"]["get"].get("parameters", ())}


def given(parameters: dict[str, dict[str, Any]], **chosen: object) -> str:
    """A query string with the parameters chosen, and right values for those that are needed."""
    needed = {name: value for name, value in REQUIRED.items() if name in parameters}
    return urlencode({**needed, **chosen})


def right_values(schema: dict[str, Any]) -> Iterator[object]:
    if "enum" in schema:
        yield from schema["enum"]
    elif schema["type"] in ("integer", "number"):
        yield from (schema["minimum"], schema["maximum"])
    elif schema["type"] == "boolean":
        yield from ("true", "false")


def wrong_values(schema: dict[str, Any]) -> Iterator[object]:
    if "enum" in schema:
        yield "no-such-value"
    elif schema["type"] in ("integer", "number"):
        yield from (schema["minimum"] - 1, schema["maximum"] + 1, "many", "1.5", "")
    elif schema["type"] == "boolean":
        yield "perhaps"
    else:
        yield "x" * (schema["maxLength"] + 1)
        if schema.get("minLength"):
            yield ""


@pytest.mark.parametrize("route", QUESTIONS)
def test_what_is_documented_is_accepted_within_its_bounds_and_refused_beyond(api: Api, route: str) -> None:
    parameters = documented(api, route)
    for name, one in parameters.items():
        for value in right_values(one["schema"]):
            accepted = api.ask(f"/v1/{route}?{given(parameters, **{name: value})}")
            assert accepted.status == 200, (name, value, accepted.body)
        for value in wrong_values(one["schema"]):
            refused = api.ask(f"/v1/{route}?{given(parameters, **{name: value})}")
            assert refused.status == 422, (name, value, refused.body)
            assert refused.kind in ("request", "usage")


@pytest.mark.parametrize("route", [*QUESTIONS, "events"])
def test_what_is_required_or_not_documented_is_named(api: Api, route: str) -> None:
    parameters = documented(api, route)
    refused = api.ask(f"/v1/{route}?{given(parameters, colour='red')}")
    assert (refused.status, refused.kind) == (422, "request")
    said = message(refused.body)
    assert "'colour'" in said
    assert f"/v1/{route} takes {', '.join(parameters) or 'no parameters'}" in said
    for name, one in parameters.items():
        if one["required"]:
            rest = {key: value for key, value in REQUIRED.items() if key in parameters and key != name}
            refused = api.ask(f"/v1/{route}?{urlencode(rest)}")
            assert (refused.status, refused.kind) == (422, "request")
            assert f"{name}: is required" in message(refused.body)


@pytest.mark.parametrize("route", ["rebuild", "verify", "pause", "resume"])
def test_an_order_takes_no_parameters_in_the_query(api: Api, route: str) -> None:
    refused = api.post(f"/v1/{route}?wait=false", b"{}")
    assert (refused.status, refused.kind) == (422, "request")
    assert "'wait'" in message(refused.body)
    assert api.ask("/v1/status").json["paused"] is False


def test_the_parameters_have_their_effect(api: Api) -> None:
    def hits(query: str) -> Any:
        return api.ask(f"/v1/search?q=the+rings&{query}").json["results"]

    assert len(hits("limit=1")) == 1
    assert len(hits("limit=2&by=note")) == 2
    assert hits("limit=1")[0]["passage"] is None
    assert hits("limit=1&expand=section")[0]["passage"]["kind"] == "section"
    assert hits("limit=1&expand=parent")[0]["passage"]["kind"] == "parent"
    said = api.ask("/v1/sentences?path=Sky.md&id=Sky_sentence_1").json
    assert (said["kind"], said["text"]) == ("sentence", "The telescope shows the rings of Saturn.")
    assert api.ask("/v1/sentences?path=Sky.md&id=Sky_sentence_9").kind == "usage"
    for view in ("note", "mentions", "unresolved", "orphans"):
        path = "path=Sky&" if view in ("note", "mentions") else ""
        assert {"note": "backlinks"}.get(view, view) in api.ask(f"/v1/links?{path}view={view}").json
    assert api.ask("/v1/search?q=telescpoe").json["corrections"] == [{"from": "telescpoe", "to": "telescope"}]
    assert api.ask("/v1/search?q=telescpoe&correct=false").json["corrections"] == []
    explained: Any = [
        api.ask(f"/v1/explain?path=Sky&q=telescpoe&correct={one}").json for one in (True, False)
    ]
    assert [bool(one["why"]["keyword"]) for one in explained] == [True, False]
    unfinished = api.ask("/v1/search?q=telesc&as_you_type=true").json["results"]
    assert unfinished[0]["path"] == "Sky.md"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_page_names_the_parameters_of_every_endpoint(method: str) -> None:
    expected: dict[str, tuple[str, ...]] = {}
    if method == "GET":
        expected |= {"/v1/events": (), "/v1/proof": ("challenge",)}
    for endpoint in (*ENDPOINTS, *(route.endpoint for route in extension_routes())):
        if endpoint.method == method:
            expected[endpoint.path] = tuple(one.name for one in endpoint.parameters)
    place, other = (0, 1) if method == "GET" else (1, 0)
    rows = documented_rows(method)
    assert {path: row[place] for path, row in rows.items()} == expected
    assert {row[other] for row in rows.values()} == {()}


def documented_rows(method: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Parameters and keys by path, from the page's table."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        row = re.match(rf"\| `{method} (/(?:v1|evals)/\w+)`[^|]*\|([^|]*)\|([^|]*)\|$", line)
        if row:
            names, keys = (tuple(re.findall(r"`(\w+)`", cell)) for cell in row.group(2, 3))
            found[row.group(1)] = (names, keys)
    return found


def message(body: bytes) -> str:
    return str(json.loads(body)["error"]["message"])


def test_query_is_understood_where_the_parameter_is_q(api: Api) -> None:
    results: Any = api.ask("/v1/search?query=telescope").json["results"]
    assert results[0]["path"] == "Sky.md"
    both = api.ask("/v1/search?q=telescope&query=bread")
    assert (both.status, "'q' is given 2 times" in both.body.decode()) == (422, True)
    asked = api.post("/v1/ask", b'{"query": "Which telescope shows the rings of Saturn?"}')
    assert asked.json["question"] == "Which telescope shows the rings of Saturn?"
    both = api.post("/v1/ask", b'{"q": "telescope", "query": "bread"}')
    assert (both.status, "unknown key 'query'" in both.body.decode()) == (422, True)
    assert api.ask("/v1/related?query=Sky").status == 422
    for path in ("v1/graph?", "v1/complete?", "v1/explain?path=Sky&", "evals/judge?"):
        assert api.ask(f"/{path}query=telescope").status == 200
    assert answer(api, "search", query="telescope") == answer(api, "search", q="telescope")
