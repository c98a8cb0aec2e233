"""Whatever is sent within the OpenAPI document is answered; whatever is beyond it is refused in one line."""

import json
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serve_api import Answer, Api

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
SYNTAX = st.text(
    st.sampled_from("ab \"'()[]{}/\\-:#|&*^$<>=!.,path:tag:file:line:OR"), min_size=1, max_size=40
)
NOTES = st.sampled_from(["Sky", "Bread.md", "/etc/passwd", "../Sky.md", "./Sky"])
ODD = st.one_of(
    st.integers().map(str), TEXT, st.sampled_from(["", "null", "1e3", "-0", "٣", "true,false", "1 2"])
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
BUDGET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def routes(api: Api, method: str) -> dict[str, Any]:
    """The operations of the document by path; no stream and no rebuild."""
    paths: Any = api.ask("/openapi.json").json["paths"]
    return {
        path: operations[method]
        for path, operations in paths.items()
        if method in operations and (method, path) not in {("get", "/v1/events"), ("post", "/v1/rebuild")}
    }


def right(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"]).map(str)
    if schema["type"] == "boolean":
        return st.sampled_from(["true", "false", "1", "0"])
    return TEXT | SYNTAX | NOTES


def ask(api: Api, path: str, query: dict[str, str]) -> Answer:
    return api.ask(f"{path}?{urlencode(query, quote_via=quote)}")


def check_refusal(answer: Answer) -> None:
    assert 400 <= answer.status < 500, answer.body
    error: Any = answer.json["error"]
    assert error["message"].strip()
    assert len(error["message"]) < 1000, error
    assert error["message"].isprintable(), error


@BUDGET
@given(data=st.data())
def test_right_parameters_are_answered_or_refused_for_what_they_say(api: Api, data: st.DataObject) -> None:
    path, operation = data.draw(st.sampled_from(sorted(routes(api, "get").items(), key=lambda one: one[0])))
    query = {
        one["name"]: data.draw(right(one["schema"]), one["name"])
        for one in operation.get("parameters", ())
        if one["required"] or data.draw(st.booleans(), f"with {one['name']}")
    }
    answer = ask(api, path, query)
    if answer.status != 200:
        check_refusal(answer)


@BUDGET
@given(data=st.data())
def test_odd_parameters_never_break_the_server(api: Api, data: st.DataObject) -> None:
    path, operation = data.draw(st.sampled_from(sorted(routes(api, "get").items(), key=lambda one: one[0])))
    names = [one["name"] for one in operation.get("parameters", ())]
    query = {name: data.draw(ODD, name) for name in names}
    query.update(
        data.draw(st.dictionaries(TEXT, ODD, min_size=1, max_size=2).filter(lambda x: not {*x} & {*names}))
    )
    check_refusal(ask(api, path, query))


@BUDGET
@given(data=st.data())
def test_odd_bodies_are_refused(api: Api, data: st.DataObject) -> None:
    path, operation = data.draw(st.sampled_from(sorted(routes(api, "post").items(), key=lambda one: one[0])))
    key = data.draw(st.sampled_from(["repair", "seconds", "unknown"]))
    body = data.draw(
        JSON.filter(lambda found: not isinstance(found, dict)) | JSON.map(lambda found: {"x": found, key: 1})
    )
    assert operation["requestBody"]["required"]
    check_refusal(api.post(path, json.dumps(body).encode()))
    assert api.ask("/v1/status").json["paused"] is False
