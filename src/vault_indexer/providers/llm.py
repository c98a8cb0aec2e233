"""Language models through LlamaIndex: Ollama, any OpenAI-compatible server, Anthropic."""

from __future__ import annotations

import os
import queue
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Protocol
from urllib.parse import urlsplit

from vault_indexer.config.settings import LlmSettings
from vault_indexer.errors import ProviderError, QueryCancelledError
from vault_indexer.model import LanguageModel
from vault_indexer.ports import StreamingLlm
from vault_indexer.providers.llamaindex import OLLAMA_URL, http_errors
from vault_indexer.providers.remote import ProviderInfo, api_key, extra_needed, require_setting

# Asynchronous work that synchronous code can read and cancel at any time.


_LOOK_EVERY_S = 0.05


def interruptible(
    work: Callable[[], AsyncIterator[str]], timeout_s: float, is_cancelled: Callable[[], bool]
) -> Iterator[str]:
    """The items of `work`, which runs in a thread with its own event loop.

    The work is cancelled, together with anything it waits for, such as an answer over the network: when the
    iterator is closed, after `timeout_s` seconds, and soon after `is_cancelled` returns True. Raises the
    errors of the work, TimeoutError, or QueryCancelledError. Different threads may read it in turn, including
    threads with an event loop.
    """
    running = _Running(work, timeout_s)
    try:
        while True:
            if is_cancelled():
                raise QueryCancelledError("no client waits for the answer any more")
            with suppress(queue.Empty):
                item = running.items.get(timeout=_LOOK_EVERY_S)
                if isinstance(item, str):
                    yield item
                elif item is None:
                    return
                else:
                    raise item
    finally:
        running.cancel()


class _Running:
    """Work in a thread. `items` contains those of the work in order, then its error, or None at its end."""

    def __init__(self, work: Callable[[], AsyncIterator[str]], timeout_s: float) -> None:
        import asyncio  # 29 modules, which a process that asks no model does without

        self.items: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._put_items(work, timeout_s))
        threading.Thread(target=self._run, name="interruptible", daemon=True).start()

    def cancel(self) -> None:
        with suppress(RuntimeError):  # the loop is closed because the work has ended
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        import asyncio

        self._loop.run_until_complete(asyncio.wait({self._task}))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
        self.items.put(None if self._task.cancelled() else self._task.exception())

    async def _put_items(self, work: Callable[[], AsyncIterator[str]], timeout_s: float) -> None:
        import asyncio

        try:
            async with asyncio.timeout(timeout_s):
                async for item in work():
                    self.items.put(item)
        except TimeoutError as error:
            raise TimeoutError(f"no complete answer within {timeout_s:g} s") from error


_ADVICE = "check llm.url, llm.model and llm.api_key_env"
_ONE_REQUEST = MappingProxyType({"Connection": "close"})
"""Each request has its own client, so no connection is left open."""


class Completion(Protocol):
    """The part of LlamaIndex's CompletionResponse that is used."""

    text: str
    delta: str | None


class CompletionModel(Protocol):
    """The part of LlamaIndex's LLM that is used."""

    def complete(self, prompt: str) -> Completion: ...

    async def acomplete(self, prompt: str) -> Completion: ...

    async def astream_complete(self, prompt: str) -> AsyncIterator[Completion]: ...


class LlamaIndexLlm:
    """A StreamingLlm that wraps LlamaIndex's clients. It does not retry: every caller has its own fallback.

    `model` creates the client for a timeout (seconds; the longest wait for data from the server) and a
    maximum number of tokens in the answer (None: that of the settings).
    """

    def __init__(self, model: Callable[[float, int | None], CompletionModel], endpoint: ProviderInfo) -> None:
        self._model = model
        self._endpoint = endpoint

    @property
    def name(self) -> str:
        """Provider and model, for cache keys."""
        return f"{self._endpoint.provider}/{self._endpoint.model}"

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """The answer's text. Raises ProviderError on failure, timeout or an empty answer."""
        with self._endpoint.translate_errors():
            text = self._model(timeout_s, max_tokens).complete(prompt).text
            if not isinstance(text, str) or not text.strip():
                raise ValueError("the answer is empty")
            return text

    def pieces(
        self, prompt: str, *, timeout_s: float, is_cancelled: Callable[[], bool], as_written: bool
    ) -> Iterator[str]:
        """The answer's text; the connection to the model is closed when the request is cancelled. If a server
        sends nothing while it writes, the whole answer is requested once more. Raises the errors of
        ports.StreamingLlm."""
        is_empty = True
        with self._endpoint.translate_errors():
            parts = self._whole_or_parts(prompt, timeout_s, as_written=as_written)
            for piece in interruptible(parts, timeout_s, is_cancelled):
                is_empty = is_empty and not piece.strip()
                yield piece
            if is_empty:
                raise ValueError("the answer is empty")

    def _whole_or_parts(
        self, prompt: str, timeout_s: float, *, as_written: bool
    ) -> Callable[[], AsyncIterator[str]]:
        async def parts() -> AsyncIterator[str]:
            model = self._model(timeout_s, None)
            is_written = False
            if as_written:
                try:
                    async for part in await model.astream_complete(prompt):
                        if part.delta:
                            is_written = True
                            yield part.delta
                except ValueError:  # LlamaIndex rejects a stream without parts
                    if is_written:
                        raise
            if not is_written:
                yield (await model.acomplete(prompt)).text or ""

        return parts


def ollama(settings: LlmSettings) -> LlamaIndexLlm:
    """A model served by Ollama, on this machine unless `llm.url` names another."""
    name = require_setting(settings.model, "llm.model", "ollama")
    url = settings.url or OLLAMA_URL
    with extra_needed("ollama"):
        from llama_index.llms.ollama import Ollama
        from ollama import ResponseError

    def model(timeout_s: float, max_tokens: int | None) -> CompletionModel:
        made: CompletionModel = Ollama(
            model=name,
            base_url=url,
            temperature=settings.temperature,
            context_window=settings.context_window,
            request_timeout=timeout_s,
            additional_kwargs={"num_predict": max_tokens or settings.max_tokens},
            headers=dict(_ONE_REQUEST),
        )
        return made

    advice = f"check that Ollama runs there and that `ollama pull {name}` was done"
    return LlamaIndexLlm(model, ProviderInfo("ollama", name, url, advice, (ResponseError, *http_errors())))


def openai(settings: LlmSettings) -> LlamaIndexLlm:
    """Any server with the OpenAI protocol; data is sent only if `llm.url` names the server."""
    name = require_setting(settings.model, "llm.model", "openai")
    url = require_setting(settings.url, "llm.url", "openai")
    key = api_key(settings.api_key_env, "llm.api_key_env")
    with extra_needed("openai"):
        from llama_index.llms.openai_like import OpenAILike
        from openai import OpenAIError

    model = _client_maker(
        OpenAILike,
        settings,
        model=name,
        api_base=url,
        api_key=key,
        is_chat_model=True,
        context_window=settings.context_window,
    )
    return LlamaIndexLlm(
        model, ProviderInfo("openai", name, url, _ADVICE, (OpenAIError, *http_errors()), key)
    )


def anthropic(settings: LlmSettings) -> LlamaIndexLlm:
    """Anthropic's API, with the key in the variable that `llm.api_key_env` names."""
    name = require_setting(settings.model, "llm.model", "anthropic")
    variable = require_setting(settings.api_key_env, "llm.api_key_env", "anthropic")
    key = api_key(variable, "llm.api_key_env")
    with extra_needed("anthropic"):
        from anthropic import AnthropicError
        from llama_index.llms.anthropic import Anthropic

    model = _client_maker(Anthropic, settings, model=name, base_url=settings.url or None, api_key=key)
    endpoint = ProviderInfo("anthropic", name, settings.url, _ADVICE, (AnthropicError, *http_errors()), key)
    return LlamaIndexLlm(model, endpoint)


_HOSTS = MappingProxyType({"ollama": OLLAMA_URL, "anthropic": "https://api.anthropic.com"})
_THIS_COMPUTER = re.compile(r"localhost|127(\.\d+){3}|::1")


def language_model(settings: LlmSettings) -> LanguageModel | None:
    """The configured model and the host to which it sends, or None without a model. It is not asked."""
    if settings.provider == "none":
        return None
    variable = os.environ.get("ANTHROPIC_BASE_URL") if settings.provider == "anthropic" else None
    address = urlsplit(settings.url or variable or _HOSTS.get(settings.provider, ""))
    host = address.netloc.rpartition("@")[2]
    is_local = _THIS_COMPUTER.fullmatch(address.hostname or "") is not None
    return LanguageModel(f"{settings.provider}/{settings.model}", host, is_local)


def _client_maker(
    client: Callable[..., CompletionModel], settings: LlmSettings, **arguments: object
) -> Callable[[float, int | None], CompletionModel]:
    """Creates clients of one server for different timeouts and lengths of the answer."""

    def model(timeout_s: float, max_tokens: int | None) -> CompletionModel:
        return client(
            temperature=settings.temperature,
            max_tokens=max_tokens or settings.max_tokens,
            timeout=timeout_s,
            max_retries=0,
            default_headers=dict(_ONE_REQUEST),
            **arguments,
        )

    return model


LLM_PROVIDERS: Mapping[str, Callable[[LlmSettings], LlamaIndexLlm]] = MappingProxyType(
    {"ollama": ollama, "openai": openai, "anthropic": anthropic}
)
"""Each value of `llm.provider` except "none", and the function that creates its client."""


def llm_for(settings: LlmSettings) -> StreamingLlm:
    """The language model that the settings name. Raises ProviderError, also if they name none."""
    if settings.provider == "none":
        allowed = ", ".join(LLM_PROVIDERS)
        raise ProviderError(f'llm.provider = "none": name a language model first (one of {allowed})')
    return LLM_PROVIDERS[settings.provider](settings)
