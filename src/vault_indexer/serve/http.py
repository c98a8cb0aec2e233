"""The HTTP API: use cases as routes, behind the guard. No logic of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from vault_indexer.config.settings import ServerSettings
from vault_indexer.errors import (
    NoteError,
    ProviderError,
    QueryTimeoutError,
    UnknownNoteError,
    UsageError,
    VaultIndexerError,
)
from vault_indexer.model import Expand, SearchRequest
from vault_indexer.serve.events import StatusEvents
from vault_indexer.serve.guard import GIVEN_UP, App, Guard, GuardRules
from vault_indexer.serve.openapi import answers
from vault_indexer.serve.pausing import add_pausing
from vault_indexer.serve.rebuilds import Rebuilds
from vault_indexer.serve.shapes import (
    DaemonJson,
    ErrorJson,
    ExplainJson,
    FailureJson,
    LinksJson,
    MentionsJson,
    NoteJson,
    OrphansJson,
    RebuildJson,
    RebuildRunJson,
    RelatedJson,
    SearchJson,
    StatusJson,
    UnresolvedJson,
    VerifyJson,
)
from vault_indexer.serve.wire import (
    error_json,
    explain_json,
    search_json,
    status_json,
    verify_json,
)
from vault_indexer.serve.wire_links import (
    links_json,
    mentions_json,
    orphans_json,
    related_json,
    unresolved_json,
)
from vault_indexer.service import MAX_LIMIT, VaultService
from vault_indexer.vault import read_note

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse

_LOG = logging.getLogger(__name__)
_NOTE_BYTES = 64 << 20
"""Notes of the index are smaller (`files.max_file_bytes`); one may have grown since."""

LONG_LIVED = frozenset({"/v1/events", "/v1/rebuild", "/v1/verify"})


class SearchQuery(BaseModel):
    """`GET /v1/search`."""

    model_config = ConfigDict(extra="forbid")

    q: str
    limit: Annotated[int, Field(ge=0, le=MAX_LIMIT)] = 0
    by: Literal["chunk", "note"] = "chunk"
    fresh: bool = False
    as_you_type: bool = False
    expand: Expand = ""


class LinksQuery(BaseModel):
    """`GET /v1/links`: of the note at `path`, or (`unresolved`, `orphans`) of the whole vault."""

    model_config = ConfigDict(extra="forbid")

    path: str = ""
    view: Literal["note", "mentions", "unresolved", "orphans"] = "note"
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50


class RebuildOrder(BaseModel):
    """`POST /v1/rebuild`: with `wait` the answer comes when the rebuild has ended."""

    model_config = ConfigDict(extra="forbid")

    wait: bool = True
    refit: bool = True


class VerifyOrder(BaseModel):
    """`POST /v1/verify`."""

    model_config = ConfigDict(extra="forbid")

    repair: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where this server is and whom it lets in. `stopping` tells long answers to end."""

    token: str
    port: int
    settings: ServerSettings
    stopping: Callable[[], bool] = lambda: False


def make_app(service: VaultService, endpoint: Endpoint) -> App:
    """The ASGI application, guard included."""
    from fastapi import FastAPI

    api = FastAPI(
        title="vault-indexer",
        description="Search a folder of Markdown notes by meaning, by word and by link.",
        docs_url=None,
        redoc_url=None,
        responses={"default": answers("what went wrong", FailureJson)},
    )
    daemon: DaemonJson = {"running": True, "pid": os.getpid(), "url": f"http://127.0.0.1:{endpoint.port}"}
    _add_questions(api, service, daemon, endpoint.stopping)
    _add_orders(api, service, endpoint.stopping)
    add_pausing(api, service)
    _add_events(api, StatusEvents(lambda: status_json(service.status(), daemon), endpoint.stopping))
    _add_errors(api)
    rules = GuardRules(
        token=endpoint.token,
        port=endpoint.port,
        allowed_origins=frozenset(endpoint.settings.allowed_origins),
        max_concurrent=endpoint.settings.max_concurrent,
        timeout_s=endpoint.settings.timeout_s,
        long_lived=LONG_LIVED,
    )
    return Guard(api, rules)


def _is_given_up(stopping: Callable[[], bool]) -> Callable[[], bool]:
    """Says whether nobody waits for the answer of this request any more, or the daemon stops."""
    given_up = GIVEN_UP.get()
    return lambda: stopping() or (given_up is not None and given_up.is_set())


def _add_questions(
    api: FastAPI, service: VaultService, daemon: DaemonJson, stopping: Callable[[], bool]
) -> None:
    from fastapi import Query
    from fastapi.responses import JSONResponse

    in_query, limits = Query(), Query(10, ge=1, le=MAX_LIMIT)

    @api.get("/v1/search", response_model=None, responses={200: answers("ranked hits", SearchJson)})
    def search(query: SearchQuery = in_query) -> JSONResponse:
        """Ranked hits."""
        request = SearchRequest(
            query.q, query.limit, query.by == "note", query.as_you_type, query.fresh, query.expand
        )
        return JSONResponse(search_json(service.search(request, is_cancelled=_is_given_up(stopping))))

    @api.get(
        "/v1/explain", response_model=None, responses={200: answers("the note in the answer", ExplainJson)}
    )
    def explain(path: str, q: str) -> JSONResponse:
        """Where a note is in the answer to a query, and why or why not."""
        is_cancelled = _is_given_up(stopping)
        return JSONResponse(explain_json(service.explain(path, SearchRequest(q), is_cancelled=is_cancelled)))

    @api.get("/v1/status", response_model=None, responses={200: answers("the state", StatusJson)})
    def status() -> JSONResponse:
        """The state of the index and of its daemon."""
        return JSONResponse(status_json(service.status(), daemon))

    @api.get("/v1/related", response_model=None, responses={200: answers("notes near it", RelatedJson)})
    def related(path: str, limit: int = limits) -> JSONResponse:
        """Notes near a note, by meaning and by link."""
        return JSONResponse(related_json(path, service.related(path, limit)))

    views = answers("the view asked for", LinksJson, MentionsJson, UnresolvedJson, OrphansJson)

    @api.get("/v1/links", response_model=None, responses={200: views})
    def links(query: LinksQuery = in_query) -> JSONResponse:
        """Links and mentions of a note; unresolved links and orphans of the vault."""
        return JSONResponse(_links_json(service, query))

    @api.get("/v1/note", response_model=None, responses={200: answers("the note", NoteJson)})
    def note(path: str) -> JSONResponse:
        """The text of a note of the index, as it is in the vault now."""
        return JSONResponse(_note_json(service, path))


def _links_json(
    service: VaultService, query: LinksQuery
) -> LinksJson | MentionsJson | UnresolvedJson | OrphansJson:
    match query.view:
        case "note":
            return links_json(service.links(query.path))
        case "mentions":
            return mentions_json(service.mentions(query.path, query.limit))
        case "unresolved":
            return unresolved_json(service.unresolved_links())
        case "orphans":
            return orphans_json(service.orphans())


def _note_json(service: VaultService, path: str) -> NoteJson:
    """Only what the index knows as a note is shown: excluded files stay unseen."""
    known = service.path_of(path)
    read = read_note(Path(service.status().vault), known, _NOTE_BYTES)
    modified = datetime.fromtimestamp(read.stat.mtime_ns // 10**9, UTC).isoformat().replace("+00:00", "Z")
    return {
        "path": known,
        "text": read.data.decode("utf-8-sig", "replace"),
        "modified_time": modified,
    }


def _add_orders(api: FastAPI, service: VaultService, stopping: Callable[[], bool]) -> None:
    from fastapi.responses import JSONResponse

    rebuilds = Rebuilds(service)

    built, under_way = answers("it has ended", RebuildJson), answers("how far it is", RebuildRunJson)

    @api.post("/v1/rebuild", response_model=None, responses={200: built, 202: under_way})
    def rebuild(order: RebuildOrder) -> JSONResponse:
        """Build the index anew; one that runs already is joined."""
        rebuilds.start(refit=order.refit)
        if not order.wait:
            return JSONResponse(rebuilds.state(), status_code=202)
        ended = rebuilds.wait(stopping)
        if ended["error"]:
            return _error(500, ended["error"])
        if not ended["report"]:
            return _error(
                503, {"kind": "stopping", "message": "the daemon stops; the old index stays in force"}
            )
        return JSONResponse(ended["report"])

    @api.get("/v1/rebuild", response_model=None, responses={200: under_way})
    def rebuild_state() -> JSONResponse:
        """How far the rebuild is, or how the last one ended."""
        return JSONResponse(rebuilds.state())

    @api.post("/v1/verify", response_model=None, responses={200: answers("every disagreement", VerifyJson)})
    def verify(order: VerifyOrder) -> JSONResponse:
        """Every disagreement between vault, catalog and derived indices."""
        return JSONResponse(verify_json(service.verify(repair=order.repair)))


def _add_events(api: FastAPI, events: StatusEvents) -> None:
    from fastapi.responses import Response, StreamingResponse

    @api.get("/v1/events", response_model=None, response_class=StreamingResponse)
    async def stream() -> Response:
        """The status, sent whenever it changes (server-sent events)."""
        if events.is_full():
            return _error(503, {"kind": "busy", "message": "too many event streams are open"})
        return StreamingResponse(
            events.stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )


def _add_errors(api: FastAPI) -> None:
    from fastapi.exceptions import RequestValidationError
    from fastapi.requests import Request
    from starlette.exceptions import HTTPException

    async def of_ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, VaultIndexerError)
        return _error(_status_of(error), error_json(error))

    async def of_request(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'][1:]) or 'body'}: {problem['msg']}"
            for problem in error.errors()
        )
        return _error(422, {"kind": "request", "message": problems})

    async def of_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return _error(error.status_code, {"kind": "request", "message": str(error.detail)})

    async def unforeseen(_: Request, error: Exception) -> JSONResponse:
        _LOG.error("a request failed", exc_info=error)
        return _error(500, {"kind": "internal", "message": "a mistake in this program; see the daemon's log"})

    api.add_exception_handler(VaultIndexerError, of_ours)
    api.add_exception_handler(RequestValidationError, of_request)
    api.add_exception_handler(HTTPException, of_http)
    api.add_exception_handler(Exception, unforeseen)


def _status_of(error: VaultIndexerError) -> int:
    match error:
        case NoteError() | UnknownNoteError():
            return 404
        case UsageError():
            return 422
        case ProviderError():
            return 502
        case QueryTimeoutError():
            return 504
        case _:
            return 503


def _error(status: int, error: ErrorJson) -> JSONResponse:
    from fastapi.responses import JSONResponse

    return JSONResponse({"error": error}, status_code=status)
