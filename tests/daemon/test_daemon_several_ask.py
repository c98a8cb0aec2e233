"""Questions to a daemon of several vaults: every face gives the same answer, each citation with its vault."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from openai_server import Answer, Request, model_server
from several_vaults import House, furnish, kept
from waiting import DEADLINE_S

from vault_indexer import open_all_vaults
from vault_indexer.errors import UsageError

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
        result = house.agent(target, "tools/call", name="ask", arguments=given)
        answered = json.loads(result["content"][0]["text"])  # type: ignore[index] # a list of blocks
        assert isinstance(answered, dict)
        return answered

    assert cited(answer("/mcp")) == (QUOTE, "garden", "Tomatoes.md")
    assert cited(answer("/mcp", vault="garden")) == (QUOTE, None, "Tomatoes.md")
    assert cited(answer("/vault/garden/mcp")) == (QUOTE, None, "Tomatoes.md")


def test_commands_and_python_ask_all(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
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

    for name, value in house.sandbox.environ.items():
        monkeypatch.setenv(name, value)
    with open_all_vaults(house.config) as vaults:
        assert vaults.names == ("garden", "work")
        answer = vaults.ask(QUESTION, use_model=False)
        assert (answer.sentences[0].text, answer.sentences[0].citations[0].vault) == (QUOTE, "garden")
        assert vaults.ask(QUESTION, vault="garden", use_model=False).sentences[0].citations[0].vault == ""
        assert {hit.vault for hit in vaults.search("tomatoes").results} == {"garden", "work"}
    house.config.with_name("empty.toml").write_text("")
    with pytest.raises(UsageError, match="there are no vaults"):
        open_all_vaults(house.config.with_name("empty.toml"))


def test_a_model_behind_http_is_asked_with_passages_of_all_vaults(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.llms.openai_like")
    house = furnish(tmp_path)
    house.configure("garden", "work")
    with model_server() as model:
        with house.config.open("a", encoding="utf-8") as config:
            config.write(f'[llm]\nprovider = "openai"\nmodel = "m"\nurl = "{model.url}/v1"\n')
        with kept(house):
            for name in ("garden", "work"):
                house.wait_for(name, "ready")
            model.script.append(Answer('{"sentences": []}'))
            question = "What do tomatoes need in March?"  # both notes are likely: others are not sent
            asked(house, f"{question} Now", model=True)
            vaults, sentence = _first_sentences(model.requests[-1], QUOTE)
            assert vaults == {"garden", "work"}
            claim = {"text": QUOTE, "ids": [sentence], "quote": QUOTE}
            untrue = {**claim, "text": "They need sun and a cellar.", "quote": "a cellar"}
            model.script.append(Answer(json.dumps({"sentences": [claim, untrue]})))
            answer = asked(house, question, model=True)
    assert cited(answer) == (QUOTE, "garden", "Tomatoes.md")
    assert answer["kind"] == "written"
    dropped = answer["dropped"]
    assert isinstance(dropped, list)
    assert [one["text"] for one in dropped] == [untrue["text"]]


def _first_sentences(request: Request, holding: str) -> tuple[set[str], str]:
    """The vaults of the notes that the model got, and the id of the first sentence that holds a text."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    notes = str(messages[-1]["content"]).partition("<notes>\n")[2].partition("\n</notes>")[0]
    lines = [json.loads(line) for line in notes.splitlines()]
    vaults = {one["vault"] for one in lines if "vault" in one}
    return vaults, next(one["id"] for one in lines if holding in one.get("text", ""))


def streamed(house: House, body: dict[str, object]) -> str:
    port = int(str(house.shared["url"]).rpartition(":")[2])
    headers = {"Authorization": f"Bearer {house.shared['token']}", "Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.request("POST", "/v1/ask", json.dumps({**body, "stream": True}), headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()
