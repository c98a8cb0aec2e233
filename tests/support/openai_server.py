"""A model server on loopback with scripted answers, in the protocols of OpenAI, Ollama and Anthropic.

An embedding is made from the text itself (letters counted), so that near texts have near vectors. A chat
answer is the next of the script; `Answer` can be a failure too. It is streamed to who asks for that.
"""

from __future__ import annotations

import json
import select
import string
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler

from http_servers import send, serving


@dataclass(frozen=True)
class Answer:
    """One scripted answer: a text, or a raw body with a status, or silence until the server ends or the
    client has gone. A streamed text waits before `held_from` until `let_all`."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    silent: bool = False
    held_from: str = ""


@dataclass
class Request:
    path: str
    authorization: str
    body: dict[str, object]


@dataclass
class ModelServer:
    """`script` is used up in order; when it is empty, everything is answered as the protocol promises.

    A request that says `slow` waits: `let_pass` lets so many go on, `let_all` all. While `broken` they fail.
    `left` counts the clients that closed the connection before they had their answer.
    """

    url: str
    script: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    slow: str = ""
    broken: bool = False
    let_all: threading.Event = field(default_factory=threading.Event)
    left: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    passes: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def let_pass(self, requests: int) -> None:
        self.passes.release(requests)

    def asked_for(self, word: str) -> list[Request]:
        """The requests that say this word, in order."""
        return [request for request in self.requests if word in json.dumps(request.body)]

    def hold(self, body: dict[str, object]) -> bool:
        """Returns when the request may be answered: whether it may."""
        if not self.slow or self.slow not in json.dumps(body):
            return True
        while not (self.broken or self.let_all.is_set() or self.closing.is_set()):
            if self.passes.acquire(timeout=0.02):
                return True
        return not (self.broken or self.closing.is_set())


def letters(text: str) -> list[float]:
    counts = [float(text.lower().count(letter)) for letter in string.ascii_lowercase]
    return [*counts, 1.0]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    state = ModelServer("")
    with serving(partial(_respond, state)) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield state
        finally:
            state.closing.set()


def _respond(state: ModelServer, request: BaseHTTPRequestHandler) -> None:
    body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
    key = request.headers.get("Authorization") or request.headers.get("x-api-key") or ""
    state.requests.append(Request(request.path, key, body))
    answer = state.script.pop(0) if state.script else Answer("fine")
    if not state.hold(body):
        answer = Answer(status=500, body=b"{}")
    if answer.silent:
        _wait(state, request, state.closing)
    elif body.get("stream") and answer.body is None:
        _stream(state, request, answer)
    else:
        promised = json.dumps(_promised(request.path, body, answer.text)).encode()
        send(request, answer.status, promised if answer.body is None else answer.body, "application/json")


def _stream(state: ModelServer, request: BaseHTTPRequestHandler, answer: Answer) -> None:
    at = answer.text.find(answer.held_from) if answer.held_from else len(answer.text)
    before, after = answer.text[:at], answer.text[at:]
    request.send_response(200)
    kind = "application/x-ndjson" if request.path == "/api/chat" else "text/event-stream"
    request.send_header("Content-Type", kind)
    request.end_headers()
    for piece in _streamed(request.path, [before, after] if after else [before]):
        if piece is not None:
            request.wfile.write(piece)
            request.wfile.flush()
        elif not _wait(state, request, state.let_all):
            return


def _wait(state: ModelServer, request: BaseHTTPRequestHandler, until: threading.Event) -> bool:
    """Whether the client is still there when the event is set."""
    while not (until.is_set() or state.closing.is_set()):
        if select.select([request.connection], [], [], 0.02)[0] and not request.connection.recv(1):
            state.left.release()
            return False
    return True


def _promised(path: str, body: dict[str, object], text: str) -> dict[str, object]:
    given = body.get("input", [])
    texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    vectors = [letters(str(one)) for one in texts]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answers: dict[str, dict[str, object]] = {
        "/v1/embeddings": {
            "object": "list",
            "model": "test",
            "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)],
            "usage": usage,
        },
        "/v1/chat/completions": {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "test",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            ],
            "usage": usage,
        },
        "/api/embed": {"model": "test", "embeddings": vectors},
        "/api/chat": {"model": "test", "done": True, "message": {"role": "assistant", "content": text}},
        "/v1/messages": {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    }
    return answers[path]


def _streamed(path: str, texts: list[str]) -> Iterator[bytes | None]:
    """The texts as the protocol streams them, three characters at a time; None between them."""
    pieces: list[str | None] = []
    for number, text in enumerate(texts):
        pieces += [None] if number else []
        pieces += [text[at : at + 3] for at in range(0, len(text), 3)]
    yield from _beginning(path)
    for piece in pieces:
        yield None if piece is None else _part(path, piece)
    yield _end(path)


def _beginning(path: str) -> Iterator[bytes]:
    if path == "/v1/messages":
        message = {**_promised(path, {}, ""), "content": [], "stop_reason": None}
        yield _event({"type": "message_start", "message": message})
        block = {"type": "text", "text": ""}
        yield _event({"type": "content_block_start", "index": 0, "content_block": block})


def _part(path: str, piece: str) -> bytes:
    if path == "/api/chat":
        message = {"role": "assistant", "content": piece}
        return json.dumps({"model": "test", "done": False, "message": message}).encode() + b"\n"
    if path == "/v1/messages":
        delta = {"type": "text_delta", "text": piece}
        return _event({"type": "content_block_delta", "index": 0, "delta": delta})
    choice = {"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": piece}}
    return _event(
        {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": [choice]}
    )


def _end(path: str) -> bytes:
    if path == "/api/chat":
        return json.dumps({**_promised(path, {}, ""), "done": True}).encode() + b"\n"
    if path != "/v1/messages":
        return b"data: [DONE]\n\n"
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    return (
        _event({"type": "content_block_stop", "index": 0})
        + _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}})
        + _event({"type": "message_stop"})
    )


def _event(data: dict[str, object]) -> bytes:
    """A server-sent event."""
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()
