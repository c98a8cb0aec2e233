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
from vault_indexer.system import record

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


@record
class Recorded:
    """ASGI middleware that gives each request an id, or accepts a valid one from the client or a proxy,
    returns it in `X-Request-Id`, and writes the record when the request has been answered. `kinds` names the
    kinds of requests by their paths."""

    app: App
    kinds: Mapping[str, str]
    write_down: Callable[[RequestRecord], None]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        given = headers_by_name(scope["headers"]).get(_HEADER, ())
        is_given = len(given) == 1 and _GIVEN_ID.fullmatch(given[0]) is not None
        request = RequestRecord(
            given[0] if is_given else secrets.token_hex(16), self.kinds.get(scope["path"], _OTHER)
        )
        REQUEST.set(request)
        began = time.monotonic()
        try:
            await self.app(scope, receive, _recording(send, request))
        finally:
            request.ms = 1000 * (time.monotonic() - began)
            self.write_down(request)


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
        is_output = settings.file == STANDARD_OUTPUT
        lines = _Output(sys.stdout) if is_output else _PrivateFile(settings.file, encoding="utf-8")
        lines.failed = failed
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
        self._handler.close()


class _Lines(logging.Handler):
    failed: Callable[[], None]
    """Counts a line that cannot be written."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - of logging
        self.failed()
        log.error("a line of the audit log cannot be written: %s", sys.exc_info()[1])


class _Output(_Lines, logging.StreamHandler[TextIO]):
    pass


class _PrivateFile(_Lines, logging.handlers.WatchedFileHandler):
    """A file that only its owner can read; it is opened again if it was moved or deleted."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the record or counts it as lost, for example if the folder is gone."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding)
