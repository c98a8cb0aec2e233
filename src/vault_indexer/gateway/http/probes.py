"""What asks whether a gateway lives, and whether it is ready: answered before anything else, and apart from
the load and the failures of searches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from vault_indexer.contract.codec import encode
from vault_indexer.errors import BackendError
from vault_indexer.gateway.http.drain import ENDING
from vault_indexer.gateway.rights import RIGHTS_UNKNOWN
from vault_indexer.model import GatewayHealth, GatewayReadiness
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

HEALTH_PATH = "/healthz"
READY_PATH = "/readyz"

_LOOK_S = 2.0
"""So long a probe waits for the server."""

_AWAY = Refusal(
    503, "backend", "the search server does not answer: try again in a few seconds", (("retry-after", "2"),)
)

Warnings = tuple[str, ...]


class Probes:
    """ASGI middleware around the whole application. It answers GET and HEAD of `/healthz` and `/readyz`, to
    any Host and without a token, since they hold nothing secret. Probes at one time ask the server once."""

    def __init__(
        self,
        app: App,
        look: Callable[[], Warnings],
        refusals: Sequence[Callable[[], Refusal | None]],
    ) -> None:
        """`look` asks the server, may block, and raises BackendError; `refusals` say why nobody is answered
        whatever the server says."""
        self._app = app
        self._look = look
        self._refusals = refusals
        self._looking: asyncio.Task[Warnings | None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a probe; hand others on."""
        is_probe = scope["type"] == "http" and scope["path"] in (HEALTH_PATH, READY_PATH)
        if not is_probe or scope["method"] not in ("GET", "HEAD"):
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
        await asyncio.wait({looking}, timeout=_LOOK_S)
        warnings = looking.result() if looking.done() else None
        if warnings is None:
            await refuse(send, _AWAY)
        else:
            await _answer(send, GatewayReadiness(ok=True, warnings=warnings))

    async def _warnings(self) -> Warnings | None:
        """What the server's answer gives reason to say; None without an answer."""
        try:
            return await asyncio.to_thread(self._look)
        except BackendError:
            return None


def when_ending(stopping: Callable[[], bool]) -> Callable[[], Refusal | None]:
    """Not ready from the signal on."""
    return lambda: ENDING if stopping() else None


def when_rights_are_unknown(hold: Callable[[], bool]) -> Callable[[], Refusal | None]:
    """Not ready while nobody's rights are known."""
    return lambda: None if hold() else RIGHTS_UNKNOWN


async def _answer(send: Send, answer: object) -> None:
    body = json.dumps(encode(answer), separators=(",", ":")).encode()
    headers = [*json_headers(body), *NOT_STORED]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
