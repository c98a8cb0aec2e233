"""Written answers from scripted model servers, through the clients of LlamaIndex that users have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_vault import NOTES, says
from openai_server import Answer, ModelServer, model_server

from vault_indexer import open_vault
from vault_indexer.api import Vault
from vault_indexer.errors import ProviderError

pytestmark = pytest.mark.long

QUESTION = "When was the lighthouse at Sumner Point built?"
PACKAGES = {
    "openai": "llama_index.llms.openai_like",
    "ollama": "llama_index.llms.ollama",
    "anthropic": "llama_index.llms.anthropic",
}
FAILURES = {
    "500": Answer(status=500, body=b'{"error": {"message": "out of memory"}}'),
    "no key": Answer(status=401, body=b'{"error": {"message": "invalid key"}}'),
    "no protocol": Answer(body=b"\x00 no json"),
    "silence": Answer(silent=True),
    "empty": Answer(""),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("models")
    for path, text in NOTES.items():
        (made / "vault" / path).parent.mkdir(parents=True, exist_ok=True)
        (made / "vault" / path).write_bytes(text.encode())
    return made


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def opened(folder: Path, server: ModelServer, provider: str = "openai", timeout_s: float = 60) -> Vault:
    """The vault with a model of its own for each test, so that no answer is kept from another."""
    pytest.importorskip(PACKAGES[provider])
    url = server.url + ("/v1" if provider == "openai" else "")
    llm = {"provider": provider, "model": model_of(server, provider), "url": url}
    key = {"api_key_env": "ASK_TEST_KEY"} if provider == "anthropic" else {}
    return open_vault(
        folder / "vault",
        folder / "index",
        llm={**llm, **key},
        ask={"timeout_s": timeout_s},
        index={"workers": 1},
    )


def model_of(server: ModelServer, provider: str) -> str:
    """LlamaIndex wants to know the models of Anthropic; the others are named after the server's port."""
    return "claude-3-haiku-20240307" if provider == "anthropic" else f"model-{server.url[-5:]}"


def prompt_of(server: ModelServer) -> str:
    """The text of the last request."""
    messages = server.requests[-1].body["messages"]
    assert isinstance(messages, list)
    content = messages[-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def id_of(prompt: str, part: str) -> str:
    lines = prompt.partition("<notes>\n")[2].partition("\n</notes>")[0].splitlines()
    return next(str(one["id"]) for one in map(json.loads, lines) if part in one.get("text", ""))


@pytest.mark.parametrize("provider", list(PACKAGES))
def test_each_kind_of_provider_writes_an_answer(
    folder: Path, server: ModelServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK_TEST_KEY", "secret")
    with opened(folder, server, provider) as vault:
        server.script.append(Answer('{"sentences": []}'))
        assert vault.ask(QUESTION).kind == "quotes"
        name = id_of(prompt_of(server), "built in 1887")
        server.script.append(Answer(says(("Helen Marsh built it in 1887.", [name], "built in 1887"))))
        # Other words, so that the answer of before is not the one of this prompt.
        answer = vault.ask(f"{QUESTION} By whom?")
    assert (answer.kind, answer.model) == ("written", f"{provider}/{model_of(server, provider)}")
    assert answer.sentences[0].citations[0].path == "Places/Sumner Point.md"


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_failure_is_tried_once_more_and_said_in_one_line(
    folder: Path, server: ModelServer, failure: str
) -> None:
    answer = FAILURES[failure]
    with opened(folder, server, timeout_s=0.5 if answer.silent else 60) as vault:
        server.script.extend([answer, answer])
        failed = vault.ask(QUESTION)
        assert failed.kind == "quotes"
        (notice,) = [one for one in failed.notices if "failed" in one]
        assert "\n" not in notice
        assert len(server.requests) == 2
        assert vault.ask(QUESTION, use_model=False).kind == "quotes"
        assert len(server.requests) == 2


def test_without_a_key_nothing_is_sent(
    folder: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASK_TEST_KEY", raising=False)
    with opened(folder, server, "anthropic") as vault, pytest.raises(ProviderError, match="ASK_TEST_KEY"):
        vault.ask(QUESTION)
    assert server.requests == []
