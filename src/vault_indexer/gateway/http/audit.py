"""The audit log: who asked for what, a line of JSON for each request."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import Self, TextIO

from vault_indexer.config.tables.identity import GatewayAudit
from vault_indexer.gateway.http.requests import RequestRecord

log = logging.getLogger("vault_indexer.gateway")

STANDARD_OUTPUT = "-"


class AuditLog:
    """Writes the lines, one by one, at the end of a file or to standard output. The event loop owns it.

    A file that was moved away is made again, so any program that rotates logs will do; others than its owner
    do not read it. A line that cannot be written is counted and said in the log, and the request is answered
    all the same.
    """

    def __init__(self, handler: logging.Handler, *, queries: bool) -> None:
        self._handler = handler
        self._queries = queries

    @classmethod
    def of(cls, settings: GatewayAudit, failed: Callable[[], None]) -> Self:
        """Raises OSError where the file cannot be opened. `failed` counts lines that are lost."""

        lines = _Output(failed) if settings.file == STANDARD_OUTPUT else _PrivateFile(settings.file, failed)
        return cls(lines, queries=settings.queries)

    def write(self, record: RequestRecord) -> None:
        """Write the line of a request that has been answered."""
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
        if self._queries and record.kind == "search":
            line["query"] = record.query
        text = json.dumps(line)
        self._handler.handle(logging.LogRecord("audit", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        """Write no more."""
        self._handler.close()


class _Output(logging.StreamHandler[TextIO]):
    """Standard output."""

    def __init__(self, failed: Callable[[], None]) -> None:
        super().__init__(sys.stdout)
        self._failed = failed

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - of logging
        """Count the line."""
        _say_lost(self._failed)


class _PrivateFile(logging.handlers.WatchedFileHandler):
    """A file for its owner alone; it is opened again where it was moved or deleted."""

    def __init__(self, path: str, failed: Callable[[], None]) -> None:
        self._failed = failed
        super().__init__(path, encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - of logging
        """Count the line."""
        _say_lost(self._failed)

    def emit(self, record: logging.LogRecord) -> None:
        """Write it or count it; the folder may be gone."""
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
