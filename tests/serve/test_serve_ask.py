"""`POST /v1/ask`: the whole answer, or the answer as it arises."""

import json

import pytest
from serve_api import Api

QUESTION = "What shows the rings of Saturn?"


def ask(api: Api, **keys: object) -> dict[str, object]:
    answer = api.post("/v1/ask", json.dumps(keys).encode())
    assert answer.status == 200, answer.body
    return answer.json


def test_the_stream_has_passages_sentences_and_the_answer(api: Api) -> None:
    answer = api.post("/v1/ask", json.dumps({"q": QUESTION, "stream": True}).encode())
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    events = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert [one["event"] for one in events] == ["passages", *["sentence"] * (len(events) - 2), "answer"]
    first, last = events[0]["data"], events[-1]["data"]
    assert first["passages"] == last["passages"] != []
    assert first["sentences"] == []
    assert [one["data"] for one in events[1:-1]] == last["sentences"] != []
    whole = ask(api, q=QUESTION)
    assert {**last, "took_ms": 0} == {**whole, "took_ms": 0}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "keys",
    [{"q": ""}, {"q": "x" * 5000}, {"q": "a before:soon"}, {"q": "a", "limit": 201}, {"q": "a", "k": 1}, {}],
)
def test_bad_input_is_refused_before_a_stream_begins(api: Api, keys: dict[str, object], stream: bool) -> None:
    answer = api.post("/v1/ask", json.dumps({**keys, "stream": stream}).encode())
    assert answer.status == 422
    assert answer.kind in ("usage", "query", "request")
