"""A model server on loopback with scripted answers, in the protocols of OpenAI, Ollama and Anthropic.

An embedding is made from the text itself (letters counted), so that near texts have near vectors. A chat
answer is the next of the script; `Answer` can be a failure too.
"""

from __future__ import annotations

import json
import string
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """One scripted answer: a text, or a raw body with a status, or silence until the server ends."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    silent: bool = False


@dataclass
class Request:
    path: str
    authorization: str
    body: dict[str, object]


@dataclass
class ModelServer:
    """`script` is used up in order; when it is empty, everything is answered as the protocol promises.

    A request that says `slow` waits: `let_pass` lets so many go on, `let_all` all. While `broken` they fail.
    """

    url: str
    script: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    slow: str = ""
    broken: bool = False
    let_all: threading.Event = field(default_factory=threading.Event)
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
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    state = ModelServer(f"http://127.0.0.1:{server.server_address[1]}")
    _Handler.states[server.server_address[1]] = state
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    states: dict[int, ModelServer] = {}  # noqa: RUF012 - one entry a server, by port

    def do_POST(self) -> None:
        state = self.states[self.server.server_address[1]]  # type: ignore[index]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization") or self.headers.get("x-api-key") or ""
        state.requests.append(Request(self.path, key, body))
        answer = state.script.pop(0) if state.script else Answer("fine")
        if not state.hold(body):
            answer = Answer(status=500, body=b"{}")
        if answer.silent:
            state.closing.wait(30)
            return
        promised = json.dumps(_promised(self.path, body, answer.text)).encode()
        payload = promised if answer.body is None else answer.body
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


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
