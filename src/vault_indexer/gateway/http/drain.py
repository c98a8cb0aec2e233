"""The end of a gateway: nobody's request fails because of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse

_QUIET_S = 1.0
_TICK_S = 0.05
_LAST_ANSWERS_S = 1.0

ENDING = Refusal(503, "ending", "this gateway ends: ask another one", (("retry-after", "1"),))


class Drain:
    """Answers requests after the signal to end, until none is under way and none has come for a second, or
    for `most_s` seconds. What is under way then is answered with status 503. The event loop owns it.

    A proxy sends requests to a gateway until it has noticed that that is not ready any more, so connections
    are accepted meanwhile; each answer closes its connection.
    """

    def __init__(self, most_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_s = most_s
        self._clock = clock
        self._running = 0
        self._asked_at = float("-inf")
        self._over = asyncio.Event()

    def around(self, app: App, stopping: Callable[[], bool]) -> App:
        """The application, whose requests are waited for. `stopping` says whether the signal has come."""

        async def drained(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            self._running += 1
            self._asked_at = self._clock()
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
        """Return when the server may end."""
        began = self._clock()
        while self._clock() - began < self._most_s:
            if not self._running and self._clock() - max(began, self._asked_at) >= _QUIET_S:
                return
            await asyncio.sleep(_TICK_S)
        self._over.set()
        while self._running and self._clock() - began < self._most_s + _LAST_ANSWERS_S:
            await asyncio.sleep(_TICK_S)


def _look_at(request: asyncio.Future[None]) -> None:
    """What a request that was answered already ends with is of no interest, nor a line of asyncio's."""
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
