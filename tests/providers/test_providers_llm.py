import json

import pytest
from openai_server import Answer, ModelServer

from vault_indexer.config.settings import LlmSettings
from vault_indexer.errors import ProviderError, QueryCancelledError
from vault_indexer.model import LanguageModel
from vault_indexer.ports import StreamingLlm
from vault_indexer.providers import language_model, llm_for
from vault_indexer.providers.llm import LLM_PROVIDERS

PACKAGES = {
    "openai": "llama_index.llms.openai_like",
    "ollama": "llama_index.llms.ollama",
    "anthropic": "llama_index.llms.anthropic",
}


@pytest.fixture(params=PACKAGES)
def llm(request: pytest.FixtureRequest, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> StreamingLlm:
    pytest.importorskip(PACKAGES[request.param])
    monkeypatch.setenv("TEST_LLM_KEY", "secret")
    url = server.url + ("/v1" if request.param == "openai" else "")
    model = "claude-haiku-4-5" if request.param == "anthropic" else "test"
    return llm_for(
        LlmSettings.model_validate(
            {"provider": request.param, "model": model, "url": url, "api_key_env": "TEST_LLM_KEY"}
        )
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "message",
    [
        "Incorrect API key provided: secret.",
        "Incorrect API key provided: sk-abcdef12********7890. See https://user:hunter2@host/v1",
        "no access with Bearer abc.def",
    ],
)
def test_no_message_of_a_provider_shows_a_key(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    pytest.importorskip(PACKAGES["openai"])
    monkeypatch.setenv("TEST_LLM_KEY", "secret")
    settings = {"provider": "openai", "model": "m", "url": f"{server.url}/v1", "api_key_env": "TEST_LLM_KEY"}
    server.script.append(Answer(status=401, body=json.dumps({"error": {"message": message}}).encode()))
    with pytest.raises(ProviderError, match="failed") as raised:
        llm_for(LlmSettings.model_validate(settings)).complete("x", timeout_s=60)
    said = str(raised.value)
    assert "401" in said
    assert "check llm.url, llm.model and llm.api_key_env" in said
    assert not [one for one in ("secret", "sk-abc", "7890", "hunter2", "abc.def") if one in said]


@pytest.mark.long
def test_a_prompt_is_answered(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.append(Answer("Two words."))
    assert llm.complete("Say two words.", timeout_s=60) == "Two words."
    (request,) = server.requests
    assert "Say two words." in str(request.body["messages"])
    assert llm.name.split("/")[0] in LLM_PROVIDERS


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500, body=b'{"error": {"message": "out of memory"}}'),
        Answer(status=429, body=b'{"error": "slow down"}'),
        Answer(body=b"\x00 no json"),
        Answer(body=b"{}"),
        Answer(body=b"[1, 2]"),
        Answer("  "),
    ],
    ids=["500", "429", "garbage", "empty object", "list", "blank"],
)
def test_a_bad_answer_is_one_clear_line(llm: StreamingLlm, answer: Answer, server: ModelServer) -> None:
    server.script.append(answer)
    with pytest.raises(ProviderError) as raised:
        llm.complete("prompt", timeout_s=60)
    message = str(raised.value)
    assert server.url in message
    assert "\n" not in message
    assert "; check " in message
    assert len(server.requests) == 1


def test_a_silent_server_is_given_up(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.append(Answer(silent=True))
    with pytest.raises(ProviderError, match=r"(?i)time"):
        llm.complete("prompt", timeout_s=0.2)


def never() -> bool:
    return False


def test_an_answer_is_read_while_it_is_written(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.append(Answer("Two words, then more.", held_from="then"))
    pieces = llm.pieces("prompt", timeout_s=60, is_cancelled=never, as_written=True)
    heard = ""
    while not heard.endswith("words, "):
        heard += next(pieces)
    server.let_all.set()
    assert heard + "".join(pieces) == "Two words, then more."
    assert len(server.requests) == 1


def test_a_whole_answer_is_one_piece(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.append(Answer("Two words."))
    assert list(llm.pieces("prompt", timeout_s=60, is_cancelled=never, as_written=False)) == ["Two words."]


@pytest.mark.parametrize("as_written", [False, True])
def test_a_request_is_given_up(llm: StreamingLlm, server: ModelServer, as_written: bool) -> None:
    """The server sees it, so that it can stop, too."""
    server.script.append(Answer(silent=True))
    with pytest.raises(QueryCancelledError):
        list(
            llm.pieces(
                "prompt", timeout_s=600, is_cancelled=lambda: bool(server.requests), as_written=as_written
            )
        )
    assert server.left.acquire(timeout=10)


@pytest.mark.long
def test_an_answer_that_goes_on_for_too_long_is_given_up(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.append(Answer("Two words, then none.", held_from="then"))
    with pytest.raises(ProviderError, match="no complete answer within 1 s"):
        list(llm.pieces("prompt", timeout_s=1, is_cancelled=never, as_written=True))
    assert server.left.acquire(timeout=10)


def test_a_stream_without_text_is_asked_for_as_a_whole(llm: StreamingLlm, server: ModelServer) -> None:
    server.script.extend([Answer(""), Answer("Two words.")])
    assert list(llm.pieces("prompt", timeout_s=60, is_cancelled=never, as_written=True)) == ["Two words."]


@pytest.mark.parametrize("as_written", [False, True])
def test_an_answer_without_words_is_an_error(
    llm: StreamingLlm, server: ModelServer, as_written: bool
) -> None:
    server.script.extend([Answer(" "), Answer(" ")])
    with pytest.raises(ProviderError, match="empty"):
        list(llm.pieces("prompt", timeout_s=60, is_cancelled=never, as_written=as_written))


def test_no_model_is_asked_unless_one_is_named() -> None:
    with pytest.raises(ProviderError, match="one of ollama, openai, anthropic"):
        llm_for(LlmSettings())


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"provider": "openai"}, "llm.model"),
        ({"provider": "openai", "model": "m"}, "llm.url"),
        ({"provider": "anthropic", "model": "m"}, "llm.api_key_env"),
        ({"provider": "ollama"}, "llm.model"),
    ],
)
def test_a_missing_setting_is_named(settings: dict[str, str], key: str) -> None:
    with pytest.raises(ProviderError, match=f"{key} is empty"):
        llm_for(LlmSettings.model_validate(settings))


@pytest.mark.parametrize(
    ("provider", "url", "host", "is_local"),
    [
        ("ollama", "", "localhost:11434", True),
        ("ollama", "http://10.0.0.7:11434", "10.0.0.7:11434", False),
        ("openai", "http://127.0.0.1:8080/v1", "127.0.0.1:8080", True),
        ("openai", "http://[::1]:8080/v1", "[::1]:8080", True),
        ("openai", "https://me:secret@models.example.org/v1", "models.example.org", False),
        ("openai", "https://localhost.example.org/v1", "localhost.example.org", False),
        ("anthropic", "", "api.anthropic.com", False),
    ],
)
def test_the_host_that_gets_questions_is_known_before_one_is_sent(
    monkeypatch: pytest.MonkeyPatch, provider: str, url: str, host: str, is_local: bool
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    settings = LlmSettings.model_validate({"provider": provider, "model": "m", "url": url})
    assert language_model(settings) == LanguageModel(f"{provider}/m", host, is_local)
    assert language_model(LlmSettings()) is None
