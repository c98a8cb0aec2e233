"""Limits the requests of each user: one in progress at a time, a few waiting, and a rate per second."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from vault_gateway.requests import REQUEST
from vault_gateway.settings import GatewayServer
from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse

_PAUSE_S = 1.0
_MOST_PAUSING = 64
"""A refusal is delayed, so that a client that retries at once keeps no processor busy. Beyond this number,
concurrent refusals are sent without delay: they would occupy connections that others need."""

_MOST_USERS = 10_000
"""The maximum number of users whose share is remembered; an inactive user has a full share anyway."""

_TOO_MANY = "too many requests of this user at once, or in this second: try again"


@dataclass
class _Share:
    """The usage of a user: requests in progress, including waiting ones, and the tokens left in the
    bucket."""

    tokens: float
    filled_at: float
    running: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the one request in progress; the others wait for it."""


class UserShares:
    """The shares of all users. Only the event loop's thread uses it."""

    def __init__(self, server: GatewayServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = server.user_concurrent
        self._rate = server.user_rate
        self._burst = server.user_burst
        self._clock = clock
        self._shares: dict[str, _Share] = {}

    def take(self, user: str) -> float:
        """Returns 0 if the request may proceed; the caller must then call `begin`. Otherwise returns the
        seconds after which to retry."""
        now = self._clock()
        share = self._shares.get(user)
        if share is None:
            self._forget_resting(now)
            share = self._shares[user] = _Share(self._burst, now)
        share.tokens = min(self._burst, share.tokens + (now - share.filled_at) * self._rate)
        share.filled_at = now
        if share.tokens < 1:
            return (1 - share.tokens) / self._rate
        if share.running >= self._most:
            return 1.0
        share.tokens -= 1
        share.running += 1
        return 0.0

    async def begin(self, user: str) -> None:
        """Waits until no other request of the user is in progress. Each `take` must be followed by `begin`,
        and then by the end of the request."""
        share = self._shares[user]
        try:
            await share.turn.acquire()
        except asyncio.CancelledError:
            # `end` is called only for a request that has begun.
            share.running -= 1
            raise

    def end(self, user: str) -> None:
        share = self._shares[user]
        share.turn.release()
        share.running -= 1

    def _forget_resting(self, now: float) -> None:
        if len(self._shares) < _MOST_USERS:
            return
        full_s = self._burst / self._rate
        self._shares = {
            user: share
            for user, share in self._shares.items()
            if share.running or now - share.filled_at < full_s
        }


_PLACE: ContextVar[list[Callable[[], None]] | None] = ContextVar("gateway_place", default=None)
"""The function that gives the place of the request back. Whoever takes it from the list calls it, so that it
is called once: a pipelined request inherits the list of the request before it."""


class Shared:
    """ASGI middleware before the guard, which queues requests: refuses those beyond a user's share."""

    def __init__(self, app: App, shares: UserShares, refused: Callable[[], None]) -> None:
        """`refused` counts a refusal."""
        self._app = app
        self._shares = shares
        self._refused = refused
        self._pausing = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers 429. The guard refuses requests without a user."""
        identity = REQUEST.get().identity
        if identity is None:
            await self._app(scope, receive, send)
            return
        name = identity.share
        wait_s = self._shares.take(name)
        if wait_s:
            self._refused()
            await self._pause()
            retry_after = ("retry-after", str(max(1, math.ceil(wait_s))))
            await refuse(send, Refusal(429, "share", _TOO_MANY, (retry_after,)))
            return
        await self._shares.begin(name)
        place = [lambda: self._shares.end(name)]
        _PLACE.set(place)
        try:
            await self._app(scope, receive, send)
        finally:
            if place:
                place.pop()()

    async def _pause(self) -> None:
        if self._pausing >= _MOST_PAUSING:
            return
        self._pausing += 1
        try:
            await asyncio.sleep(_PAUSE_S)
        finally:
            self._pausing -= 1


def giving_back(app: App) -> App:
    """ASGI middleware behind the guard that keeps the place until the handler has ended, even if the guard
    has already answered 504."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        place = _PLACE.get()
        release = place.pop() if place else None
        try:
            await app(scope, receive, send)
        finally:
            if release is not None:
                release()

    return answer
