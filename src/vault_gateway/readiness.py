"""Liveness and readiness probes of a gateway: answered before everything else, and independently of the load
and the failures of searches."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence

from vault_gateway.wire import GatewayHealth, GatewayReadiness
from vault_indexer.contract.codec import encode
from vault_indexer.errors import BackendError
from vault_indexer.serve.http.guard import (
    NOT_STORED,
    App,
    Message,
    Receive,
    Refusal,
    Send,
    json_headers,
    refuse,
)

# Shutdown of a gateway without failed requests.


_QUIET_S = 1.0
_TICK_S = 0.05
_LAST_ANSWERS_S = 1.0

ENDING = Refusal(503, "ending", "this gateway is shutting down: use another one", (("retry-after", "1"),))


class Drain:
    """Answers requests after the signal to end, until none is in progress and none has arrived for a second,
    or for `most_s` seconds. Requests still in progress are then answered with status 503. The event loop owns
    it.

    A proxy sends requests to a gateway until it has noticed that it is not ready any more, so connections are
    accepted meanwhile; each answer closes its connection.
    """

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._running = 0
        self._asked_at = float("-inf")
        self._over = asyncio.Event()

    def around(self, app: App, stopping: Callable[[], bool]) -> App:
        """Wraps the application so that its requests are tracked. `stopping` reports whether the signal has
        arrived."""

        async def drained(scope: Message, receive: Receive, send: Send) -> None:
            self._running += 1
            self._asked_at = time.monotonic()
            answer = _Answer(send, stopping)
            request = asyncio.ensure_future(app(scope, receive, answer.send))
            request.add_done_callback(_look_at)
            over = asyncio.ensure_future(self._over.wait())
            try:
                await asyncio.wait({request, over}, return_when=asyncio.FIRST_COMPLETED)
                if request.done() or answer.is_begun:
                    await request
                else:
                    answer.is_closed = True
                    await refuse(send, ENDING)
            finally:
                over.cancel()
                self._running -= 1

        return drained

    async def finish(self) -> None:
        """Returns when the server may end."""
        began = time.monotonic()
        while time.monotonic() - began < self._most_s:
            if not self._running and time.monotonic() - max(began, self._asked_at) >= _QUIET_S:
                return
            await asyncio.sleep(_TICK_S)
        self._over.set()
        while self._running and time.monotonic() - began < self._most_s + _LAST_ANSWERS_S:
            await asyncio.sleep(_TICK_S)


def _look_at(request: asyncio.Future[None]) -> None:
    """Reads the result of a request that was already answered, so that asyncio does not log its error."""
    if not request.cancelled():
        request.exception()


class _Answer:
    """Passes an answer on, unless another one was sent instead."""

    def __init__(self, send: Send, stopping: Callable[[], bool]) -> None:
        self._send = send
        self._stopping = stopping
        self.is_begun = False
        self.is_closed = False

    async def send(self, message: Message) -> None:
        if self.is_closed:
            return
        self.is_begun = True
        if message["type"] == "http.response.start" and self._stopping():
            message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await self._send(message)


HEALTH_PATH = "/healthz"
READY_PATH = "/readyz"

_LOOK_S = 2.0
"""The time limit of a probe for the server."""

_AWAY = Refusal(
    503, "backend", "the search server does not answer: try again in a few seconds", (("retry-after", "2"),)
)

Warnings = tuple[str, ...]


class Probes:
    """ASGI middleware around the whole application. It answers GET and HEAD of `/healthz` and `/readyz`, for
    any Host and without a token, since they contain no secrets. Concurrent probes share one query to the
    server."""

    def __init__(
        self, app: App, look: Callable[[], Warnings], refusals: Sequence[Callable[[], Refusal | None]]
    ) -> None:
        """`look` queries the server, may block, and raises BackendError; `refusals` return reasons to refuse
        all requests regardless of the server."""
        self._app = app
        self._look = look
        self._refusals = refusals
        self._looking: asyncio.Task[Warnings | None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] not in (HEALTH_PATH, READY_PATH) or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
        elif scope["path"] == HEALTH_PATH:
            await _answer(send, GatewayHealth(ok=True))
        else:
            await self._readiness(send)

    async def _readiness(self, send: Send) -> None:
        refused = next(filter(None, (why() for why in self._refusals)), None)
        if refused is not None:
            await refuse(send, refused)
            return
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._warnings())
        looking = self._looking
        # At its timeout, `wait` does not cancel the task, so the next request can still use the result.
        await asyncio.wait({looking}, timeout=_LOOK_S)
        warnings = looking.result() if looking.done() else None
        if warnings is None:
            await refuse(send, _AWAY)
        else:
            await _answer(send, GatewayReadiness(ok=True, warnings=warnings))

    async def _warnings(self) -> Warnings | None:
        """The warnings in the server's answer; None without an answer."""
        try:
            return await asyncio.to_thread(self._look)
        except BackendError:
            return None


async def _answer(send: Send, answer: object) -> None:
    body = json.dumps(encode(answer), separators=(",", ":")).encode()
    headers = [*json_headers(body), *NOT_STORED]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
