"""Asking a running daemon, with the standard library alone: a command must start fast."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException
from typing import cast
from urllib.parse import quote, urlencode, urlsplit

from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.errors import (
    ConfigError,
    DaemonError,
    DiskFullError,
    IndexUnusableError,
    LockedError,
    ProviderError,
    UnknownNoteError,
    UsageError,
    VaultError,
    VaultIndexerError,
)
from vault_indexer.serve.shapes import (
    ErrorJson,
    ExplainJson,
    LinksJson,
    MentionsJson,
    OrphansJson,
    ProgressJson,
    RebuildJson,
    RebuildRunJson,
    RelatedJson,
    SearchJson,
    StatusJson,
    UnresolvedJson,
    VerifyJson,
)
from vault_indexer.serve.shapes_pause import PauseJson
from vault_indexer.text.bounds import check_note_name, check_query

Parameters = Mapping[str, str | int | bool]

_LOOK_EVERY_S = 0.1
_TIMEOUT_S = 60.0


class NotListeningError(DaemonError):
    """`daemon.json` names a running process, but nothing listens there: it may be starting or ending."""


class DaemonClient:
    """One daemon. Every method raises DaemonError if it does not answer, else the error that it met."""

    def __init__(self, info: DaemonInfo) -> None:
        self._info = info
        self._address = urlsplit(info.url)

    def search(self, parameters: Parameters) -> SearchJson:
        """`GET /v1/search`; the parameters are those of the API."""
        check_query(str(parameters["q"]), may_be_empty=bool(parameters.get("as_you_type")))
        return cast("SearchJson", self._get("/v1/search", parameters))

    def status(self) -> StatusJson:
        """`GET /v1/status`."""
        return cast("StatusJson", self._get("/v1/status", {}))

    def related(self, note: str, limit: int) -> RelatedJson:
        """`GET /v1/related`."""
        check_note_name(note)
        return cast("RelatedJson", self._get("/v1/related", {"path": note, "limit": limit}))

    def explain(self, note: str, query: str) -> ExplainJson:
        """`GET /v1/explain`."""
        check_query(query)
        check_note_name(note)
        return cast("ExplainJson", self._get("/v1/explain", {"path": note, "q": query}))

    def links(self, note: str, limit: int | None = None) -> LinksJson:
        """`GET /v1/links`."""
        check_note_name(note)
        return cast("LinksJson", self._get("/v1/links", {"path": note, **_limit(limit)}))

    def mentions(self, note: str, limit: int | None = None) -> MentionsJson:
        """`GET /v1/links?view=mentions`."""
        check_note_name(note)
        parameters: Parameters = {"view": "mentions", "path": note, **_limit(limit)}
        return cast("MentionsJson", self._get("/v1/links", parameters))

    def unresolved_links(self, limit: int | None = None) -> UnresolvedJson:
        """`GET /v1/links?view=unresolved`."""
        return cast("UnresolvedJson", self._get("/v1/links", {"view": "unresolved", **_limit(limit)}))

    def orphans(self, limit: int | None = None) -> OrphansJson:
        """`GET /v1/links?view=orphans`."""
        return cast("OrphansJson", self._get("/v1/links", {"view": "orphans", **_limit(limit)}))

    def rebuild(self, show: Callable[[ProgressJson], None], *, refit: bool) -> RebuildJson:
        """Have a rebuild run (one that runs already is joined) and watch it until it ends."""
        self._ask("POST", "/v1/rebuild", json.dumps({"wait": False, "refit": refit}))
        while True:
            state = cast("RebuildRunJson", self._get("/v1/rebuild", {}))
            if state["error"]:
                raise remote_error(state["error"]["kind"], state["error"]["message"])
            if state["report"]:
                return state["report"]
            if state["progress"]:
                show(state["progress"])
            time.sleep(_LOOK_EVERY_S)

    def pause(self, seconds: float | None) -> PauseJson:
        """`POST /v1/pause`."""
        return cast("PauseJson", self._ask("POST", "/v1/pause", json.dumps({"seconds": seconds})))

    def resume(self) -> PauseJson:
        """`POST /v1/resume`."""
        return cast("PauseJson", self._ask("POST", "/v1/resume", "{}"))

    def verify(self, *, repair: bool) -> VerifyJson:
        """`POST /v1/verify`, however long it takes."""
        return cast("VerifyJson", self._ask("POST", "/v1/verify", json.dumps({"repair": repair}), None))

    def _get(self, path: str, parameters: Parameters) -> object:
        texts = {name: _text(value) for name, value in parameters.items()}
        query = f"?{urlencode(texts, quote_via=quote, errors='replace')}" if texts else ""
        return self._ask("GET", path + query, None)

    def _ask(
        self, method: str, target: str, body: str | None, timeout_s: float | None = _TIMEOUT_S
    ) -> object:
        headers = {"Authorization": f"Bearer {self._info.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = HTTPConnection(
            self._address.hostname or "127.0.0.1", self._address.port, timeout=timeout_s
        )
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            status, content = response.status, response.read()
        except ConnectionRefusedError as error:
            raise NotListeningError(f"no daemon listens at {self._info.url}") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise DaemonError(
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
            error: ErrorJson = answer["error"]
            message, kind = str(error["message"]), str(error["kind"])
        except (ValueError, KeyError, TypeError) as error:
            raise DaemonError(
                f"the answer of {self._info.url} is not one of vault-indexer (status {status})"
            ) from error
        raise remote_error(kind, message)


def remote_error(kind: str, message: str) -> VaultIndexerError:
    """The error that the daemon reported, as the class that this process would have raised."""
    match kind:
        case "usage" | "query" | "request" | "too_long":
            return UsageError(message)
        case "unknown_note":
            return UnknownNoteError(message)
        case "config":
            return _ConfigOfDaemonError(message)
        case "vault":
            return VaultError(message)
        case "index_unusable" | "manifest":
            return IndexUnusableError(message)
        case "disk_full":
            return DiskFullError(message, explained=True)
        case "locked":
            return LockedError(message)
        case "provider":
            return ProviderError(message)
        case _:
            return DaemonError(message)


class _ConfigOfDaemonError(ConfigError):
    """Mistakes of the configuration as the daemon told them, already in words."""

    def __init__(self, message: str) -> None:
        super().__init__(())
        self.args = (message,)


def _limit(limit: int | None) -> dict[str, int]:
    return {} if limit is None else {"limit": limit}


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
