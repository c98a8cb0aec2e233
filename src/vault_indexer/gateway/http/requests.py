"""What is known of a request while it is answered: its id, who asks, and what for."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from vault_indexer.gateway.users import Identity
from vault_indexer.serve.http.guard import App, Message, Receive, Send, headers_by_name

_GIVEN_ID = re.compile(r"[A-Za-z0-9._:=/+-]{1,128}")
_HEADER = "x-request-id"
_OTHER = "other"


@dataclass(slots=True)
class RequestRecord:
    """One request. Whoever answers it fills it in; `write_down` gets it at the end.

    `vaults` are the ids of the vaults that were asked, or "*". `status` is None if nobody was answered, since
    the client has gone. `reason` is the kind of an error.
    """

    id: str
    kind: str
    identity: Identity | None = None
    vaults: tuple[str, ...] = ()
    query: str = ""
    status: int | None = None
    reason: str = ""
    ms: float = 0.0


REQUEST: ContextVar[RequestRecord] = ContextVar("gateway_request")
"""Of the request that is being answered; set by `Recorded` alone."""


class Recorded:
    """ASGI middleware: gives each request an id, the one that the client or a proxy has sent if that is one,
    returns it in `X-Request-Id`, and has the request written down when it has been answered."""

    def __init__(
        self, app: App, kinds: Mapping[str, str], write_down: Callable[[RequestRecord], None]
    ) -> None:
        """`kinds` names the kinds of requests by their paths."""
        self._app = app
        self._kinds = kinds
        self._write_down = write_down

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = headers_by_name(scope["headers"]).get(_HEADER, ())
        is_given = len(given) == 1 and _GIVEN_ID.fullmatch(given[0]) is not None
        record = RequestRecord(
            given[0] if is_given else secrets.token_hex(16), self._kinds.get(scope["path"], _OTHER)
        )
        REQUEST.set(record)
        began = time.monotonic()
        try:
            await self._app(scope, receive, _recording(send, record))
        finally:
            record.ms = 1000 * (time.monotonic() - began)
            self._write_down(record)


def _recording(send: Send, record: RequestRecord) -> Send:
    async def send_recorded(message: Message) -> None:
        if message["type"] == "http.response.start":
            record.status = message["status"]
            header = (_HEADER.encode(), record.id.encode())
            message = {**message, "headers": [*message.get("headers", ()), header]}
        elif record.status is not None and record.status >= 400 and not record.reason:
            record.reason = _reason(message.get("body", b""))
        await send(message)

    return send_recorded


def _reason(body: bytes) -> str:
    """The kind of the error in an answer: one of those that this program has."""
    try:
        return str(json.loads(body)["error"]["kind"])
    except (ValueError, KeyError, TypeError):
        return _OTHER
