"""The audit log: a line of JSON for each request, with its user and purpose."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import Self, TextIO

from vault_gateway.access import Identity
from vault_gateway.settings import GatewayAudit
from vault_indexer.serve.http.guard import App, Message, Receive, Send, headers_by_name

# The record of a request while it is answered: its id, user and purpose.


_GIVEN_ID = re.compile(r"[A-Za-z0-9._:=/+-]{1,128}")
_HEADER = "x-request-id"
_OTHER = "other"

AGENTS = "mcp"
"""The kind of the requests of agents."""


@dataclass(slots=True)
class RequestRecord:
    """One request. Handlers fill it in; `write_down` gets it at the end.

    `vaults` are the ids of the searched vaults, or "*". `status` is None if no answer was sent because the
    client has disconnected. `reason` is the kind of an error. `tool` is the called one, if agents call one.
    """

    id: str
    kind: str
    identity: Identity | None = None
    vaults: tuple[str, ...] = ()
    query: str = ""
    status: int | None = None
    reason: str = ""
    tool: str = ""
    ms: float = 0.0


REQUEST: ContextVar[RequestRecord] = ContextVar("gateway_request")
"""The record of the current request; set only by `Recorded`."""


class Recorded:
    """ASGI middleware that gives each request an id, or accepts a valid one from the client or a proxy,
    returns it in `X-Request-Id`, and writes the record when the request has been answered."""

    def __init__(
        self, app: App, kinds: Mapping[str, str], write_down: Callable[[RequestRecord], None]
    ) -> None:
        """`kinds` names the kinds of requests by their paths."""
        self._app = app
        self._kinds = kinds
        self._write_down = write_down

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
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
        elif record.status and not record.reason and (record.status >= 400 or record.kind == AGENTS):
            record.reason = _reason(message.get("body", b""), record.status)
        await send(message)

    return send_recorded


def _reason(body: bytes, status: int) -> str:
    """The kind of the error in an answer, if it is a kind of this program. Errors of JSON-RPC, such as an
    unknown tool, may have status 200."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return _OTHER if status >= 400 else ""
    return str(error.get("kind", "request")) if isinstance(error, dict) else _OTHER


log = logging.getLogger("vault_indexer.gateway")

STANDARD_OUTPUT = "-"


class AuditLog:
    """Writes single lines to the end of a file or to standard output. The event loop owns it.

    A file that was moved away is created again, so any program can rotate the logs; only its owner can read
    it. A line that cannot be written is counted and logged, and the request is answered nevertheless.
    """

    def __init__(self, handler: logging.Handler, *, queries: bool) -> None:
        self._handler = handler
        self._queries = queries

    @classmethod
    def of(cls, settings: GatewayAudit, failed: Callable[[], None]) -> Self:
        """Raises OSError if the file cannot be opened. `failed` counts lost lines."""

        lines = _Output(failed) if settings.file == STANDARD_OUTPUT else _PrivateFile(settings.file, failed)
        return cls(lines, queries=settings.queries)

    def write(self, record: RequestRecord) -> None:
        identity = record.identity
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "request_id": record.id,
            "user": identity.name if identity else None,
            "by": identity.by if identity else None,
            "vaults": list(record.vaults),
            "kind": record.kind,
            "status": record.status,
            "reason": record.reason,
            "ms": round(record.ms, 1),
        }
        if record.kind == AGENTS:
            line["tool"] = record.tool
        if self._queries and (record.kind == "search" or record.query):
            line["query"] = record.query
        text = json.dumps(line)
        self._handler.handle(logging.LogRecord("audit", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        """Closes the log."""
        self._handler.close()


class _Output(logging.StreamHandler[TextIO]):
    """Standard output."""

    def __init__(self, failed: Callable[[], None]) -> None:
        super().__init__(sys.stdout)
        self._failed = failed

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - of logging
        _say_lost(self._failed)


class _PrivateFile(logging.handlers.WatchedFileHandler):
    """A file that only its owner can read; it is opened again if it was moved or deleted."""

    def __init__(self, path: str, failed: Callable[[], None]) -> None:
        self._failed = failed
        super().__init__(path, encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - of logging
        _say_lost(self._failed)

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the record or counts it as lost, for example if the folder is gone."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding)


def _say_lost(failed: Callable[[], None]) -> None:
    failed()
    log.error("a line of the audit log cannot be written: %s", sys.exc_info()[1])
