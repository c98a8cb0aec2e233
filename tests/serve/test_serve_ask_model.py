"""`POST /v1/ask` with a language model: clients that leave, and sentences sent while the model writes."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from openai_server import Answer, ModelServer, model_server
from serve_api import Api, serve
from waiting import DEADLINE_S, wait_until

from vault_indexer.serve.http.guard import MAX_LONG_LIVED

QUESTION = "What shows the rings of Saturn?"
SAID = "The telescope shows the rings of Saturn."

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def api(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A daemon that would wait for its model for ten minutes."""
    config = f'[llm]\nprovider = "openai"\nmodel = "m"\nurl = "{server.url}/v1"\n'
    process, running = serve(tmp_path_factory.mktemp("asked"), config, tuning="[ask]\ntimeout_s = 600\n")
    yield running
    process.kill()
    process.communicate(timeout=DEADLINE_S)


def send(api: Api, question: str, stream: bool) -> HTTPConnection:
    """A question whose answer is not read yet."""
    connection = api.connect()
    headers = {"Authorization": f"Bearer {api.token}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/ask", json.dumps({"q": question, "stream": stream}), headers)
    return connection


def test_a_client_that_leaves_frees_its_place_at_once(server: ModelServer, api: Api) -> None:
    server.script.extend([Answer(silent=True)] * MAX_LONG_LIVED)
    # Other words each time: otherwise one answer is kept for all.
    clients = [send(api, f"{QUESTION} {number}", number % 2 == 0) for number in range(MAX_LONG_LIVED)]
    wait_until(lambda: len(server.requests) == MAX_LONG_LIVED)
    busy = api.post("/v1/ask", json.dumps({"q": QUESTION}).encode())
    assert (busy.status, busy.kind) == (503, "busy")
    for client in clients:
        client.close()
    assert all(server.left.acquire(timeout=DEADLINE_S) for _ in clients)  # the model can stop, too
    server.script.extend([Answer('{"sentences": []}')] * 2)
    wait_until(lambda: api.post("/v1/ask", json.dumps({"q": QUESTION}).encode()).status == 200)


def test_a_sentence_is_sent_before_the_model_has_ended(server: ModelServer, api: Api) -> None:
    claim = {"text": SAID, "ids": ["s1"], "quote": SAID}
    text = json.dumps({"sentences": [claim, {**claim, "text": "The end."}]})
    server.script[:] = [Answer(text, held_from="The end.")]  # the test before may leave some
    client = send(api, f"{QUESTION} Really", stream=True)
    response = client.getresponse()
    first, second = (json.loads(response.readline()) for _ in range(2))
    assert (first["event"], second["event"]) == ("passages", "sentence")
    assert (second["data"]["text"], second["data"]["verdict"]) == (SAID, "quoted")
    assert not server.let_all.is_set()
    server.let_all.set()
    last = json.loads(response.read().splitlines()[-1])
    client.close()
    assert last["event"] == "answer"
    assert last["data"]["sentences"] == [second["data"]]
    assert [one["text"] for one in last["data"]["dropped"]] == ["The end."]
