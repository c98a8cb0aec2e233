"""Questions to a daemon of several vaults: every face gives the same answer, each citation with its vault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest
from several_vaults import House, furnish, kept
from waiting import DEADLINE_S

pytestmark = pytest.mark.long

QUESTION = "What do the tomatoes need?"
QUOTE = "They need sun and a trellis."


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    found = furnish(tmp_path_factory.mktemp("house"))
    found.configure("garden", "work")
    with kept(found):
        for name in ("garden", "work"):
            found.wait_for(name, "ready")
        yield found


def asked(house: House, question: str, target: str = "/v1/ask", **more: object) -> dict[str, object]:
    answer = house.ask(target, "POST", body=json.dumps({"q": question, "model": False, **more}))
    assert answer.status == 200, answer.data
    return answer.data


def cited(answer: dict[str, object]) -> tuple[str, str | None, str]:
    """The first sentence, and vault and path of what it cites."""
    sentences = answer["sentences"]
    assert isinstance(sentences, list)
    citation = sentences[0]["citations"][0]
    return sentences[0]["text"], citation.get("vault"), citation["path"]


def test_the_question_goes_over_all_vaults(house: House) -> None:
    assert cited(asked(house, QUESTION)) == (QUOTE, "garden", "Tomatoes.md")
    assert cited(asked(house, "Who sends the invoice for tomatoes?"))[1:] == ("work", "Budget.md")
    only = asked(house, f"{QUESTION} vault:work")
    assert '"vault": "garden"' not in json.dumps([only["sentences"], only["passages"]])
    for target in ("/v1/ask?vault=garden", "/vault/garden/v1/ask"):
        assert cited(asked(house, QUESTION, target)) == (QUOTE, None, "Tomatoes.md")
    assert house.ask("/v1/ask?vault=nope", "POST", body='{"q": "x"}').status == 422
    assert asked(house, "Which quarterback won the Superbowl?")["kind"] == "declined"


def test_a_stream_names_the_vaults_too(house: House) -> None:
    events = [json.loads(line) for line in streamed(house, {"q": QUESTION, "model": False}).splitlines()]
    assert [one["event"] for one in events[:2]] == ["passages", "sentence"]
    assert events[1]["data"]["citations"][0]["vault"] == "garden"
    assert cited(events[-1]["data"]) == (QUOTE, "garden", "Tomatoes.md")


def test_agents_ask_all(house: House) -> None:
    def answer(target: str, **arguments: str) -> dict[str, object]:
        given = {"q": f"{QUESTION} -path:None", **arguments}
        result = house.agent(target, "tools/call", name="ask", arguments=given)["structuredContent"]
        assert isinstance(result, dict)
        return result

    assert cited(answer("/mcp")) == (QUOTE, "garden", "Tomatoes.md")
    assert cited(answer("/mcp", vault="garden")) == (QUOTE, None, "Tomatoes.md")
    assert cited(answer("/vault/garden/mcp")) == (QUOTE, None, "Tomatoes.md")


def test_commands_ask_all(house: House) -> None:
    shown = house.run("ask", "--no-model", QUESTION)
    assert QUOTE in shown.out.splitlines()[1]
    assert "garden: Tomatoes.md:3" in shown.out.splitlines()[2]
    named = house.run("ask", "--no-model", "--json", "--vault", "garden", QUESTION)
    assert cited(named.data) == (QUOTE, None, "Tomatoes.md")
    inside = house.run("ask", "--no-model", "--json", "--all-vaults", QUESTION, cwd=house.vault("work"))
    assert cited(inside.data) == (QUOTE, "garden", "Tomatoes.md")
    declined = house.run("ask", "--no-model", "Which quarterback won the Superbowl?")
    assert declined.code == 1
    assert "No note answers this" in declined.err


def streamed(house: House, body: dict[str, object]) -> str:
    port = int(str(house.shared["url"]).rpartition(":")[2])
    headers = {"Authorization": f"Bearer {house.shared['token']}", "Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.request("POST", "/v1/ask", json.dumps({**body, "stream": True}), headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()
