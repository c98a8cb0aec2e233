"""The client of a running daemon. It requires only the standard library, because a command must start
fast."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from http.client import HTTPException
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlencode, urlsplit

from vault_indexer import errors
from vault_indexer.contract.parameters import Value
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo, LocalConnection
from vault_indexer.serve.api.endpoints import REBUILD, REBUILD_STATE, Answer, Endpoint

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ErrorReportJson, ProgressJson, RebuildReportJson

_LOOK_EVERY_S = 0.1
_TIMEOUT_S = 60.0


class NotListeningError(errors.DaemonError):
    """Nothing listens at the address: the daemon has just ended."""


class DaemonClient:
    """The endpoints of one running daemon, over HTTP.

    Made by code that has read the daemon's address and token (`daemon.discovery`). It has no connection and
    no state, so any thread may use it. Each request has a time limit, except those of long-lived endpoints.
    Every method raises DaemonError if the daemon does not answer, otherwise the error that it reported.
    """

    def __init__(self, info: DaemonInfo) -> None:
        self._info = info
        self._address = urlsplit(info.url)

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """Returns the answer of an endpoint. Raises UsageError, without a request, for a text that is too
        long."""
        return cast(
            "Answer", self._request(endpoint, parameters, None if endpoint.is_long_lived else _TIMEOUT_S)
        )

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Starts a rebuild, or joins the running one, and reports its progress until it ends."""
        self._request(REBUILD, {"wait": False, **options._asdict()}, _TIMEOUT_S)
        while True:
            state = self.ask(REBUILD_STATE)
            if state["error"]:
                raise _remote_error(state["error"]["kind"], state["error"]["message"])
            if state["report"]:
                return state["report"]
            if state["progress"]:
                show(state["progress"])
            time.sleep(_LOOK_EVERY_S)

    def _request(
        self, endpoint: Endpoint[Answer], parameters: Mapping[str, Value], timeout_s: float | None
    ) -> object:
        # Defaults are not sent: a daemon of an earlier version may not support the parameter.
        given = endpoint.arguments(parameters)
        headers = {"Authorization": f"Bearer {self._info.token}"}
        target, body = self._address.path + endpoint.path, None
        if endpoint.method == "POST":
            body, headers["Content-Type"] = json.dumps(given), "application/json"
        elif given:
            texts = {
                name: str(one).lower() if isinstance(one, bool) else str(one) for name, one in given.items()
            }
            target += f"?{urlencode(texts, quote_via=quote, errors='replace')}"
        connection = LocalConnection(self._address.netloc, timeout=timeout_s)
        try:
            connection.request(endpoint.method, target, body, headers)
            response = connection.getresponse()
            status, content = response.status, response.read()
        except ConnectionRefusedError as error:
            raise NotListeningError(f"no daemon listens at {self._info.url}") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or error
            raise errors.DaemonError(
                f"the daemon (process {self._info.pid}) at {self._info.url} does not answer: {reason}"
            ) from error
        finally:
            connection.close()
        return self._answer(status, content)

    def _answer(self, status: int, content: bytes) -> object:
        try:
            answer = json.loads(content)
            if status < 400:
                return answer
            error: ErrorReportJson = answer["error"]
            message, kind = str(error["message"]), str(error["kind"])
        except (ValueError, KeyError, TypeError) as error:
            raise errors.DaemonError(
                f"the answer of {self._info.url} is not one of vault-indexer (status {status})"
            ) from error
        raise _remote_error(kind, message)


def _remote_error(kind: str, message: str) -> errors.VaultIndexerError:
    """Converts an error that the daemon reported to the class that this process would have raised."""
    return _ERRORS.get(kind, errors.DaemonError)(message)


class _ConfigOfDaemonError(errors.ConfigError):
    """Configuration mistakes reported by the daemon, already as text."""

    def __init__(self, message: str) -> None:
        super().__init__(())
        self.args = (message,)


_ERRORS: Mapping[str, Callable[[str], errors.VaultIndexerError]] = {
    **dict.fromkeys(("usage", "query", "request", "too_long"), errors.UsageError),
    "unknown_note": errors.UnknownNoteError,
    "config": _ConfigOfDaemonError,
    "vault": errors.VaultError,
    "disk_full": partial(errors.DiskFullError, explained=True),
    **dict.fromkeys(("index_unusable", "manifest"), errors.IndexUnusableError),
    "locked": errors.LockedError,
    "provider": errors.ProviderError,
}
