"""The HTTP API: use cases as routes, behind the guard. No logic of its own."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

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
from vault_indexer.serve.parameters import ParameterCheck, allowed_parameters
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
from vault_indexer.service import MAX_LIMIT, MENTIONS, VaultService
from vault_indexer.text.bounds import MAX_PATH_BYTES, MAX_QUERY_BYTES
from vault_indexer.vault import read_note

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse

_VALUE_CHARS = 60
_LOG = logging.getLogger(__name__)
_NOTE_BYTES = 64 << 20
"""Notes of the index are smaller (`files.max_file_bytes`); one may have grown since."""

LONG_LIVED = frozenset({"/v1/events", "/v1/rebuild", "/v1/verify"})


# The service checks these two lengths, in bytes, so that every way to ask gives the same message. The schema
# counts characters: a text within the bound in bytes is within it in characters too.
QueryText = Annotated[
    str,
    Field(
        description=f"The query: words, phrases, filters; at most {MAX_QUERY_BYTES} bytes of UTF-8.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_QUERY_BYTES},
    ),
]
NotePath = Annotated[
    str,
    Field(
        description="A note: its path in the vault, its absolute path, or its name if only one note has it.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_PATH_BYTES},
    ),
]


class SearchQuery(BaseModel):
    """`GET /v1/search`."""

    model_config = ConfigDict(extra="forbid")

    q: QueryText
    limit: Annotated[
        int, Field(ge=0, le=MAX_LIMIT, description="Hits at most; 0 means the configured number.")
    ] = 0
    by: Annotated[
        Literal["chunk", "note"], Field(description="One hit for each chunk, or the best one of each note.")
    ] = "chunk"
    fresh: Annotated[
        bool, Field(description="Wait until all changes made to the vault so far are indexed.")
    ] = False
    as_you_type: Annotated[bool, Field(description="The last word may be unfinished.")] = False
    expand: Annotated[Expand, Field(description="Add the text around each hit; empty adds none.")] = ""


class ExplainQuery(BaseModel):
    """`GET /v1/explain`."""

    model_config = ConfigDict(extra="forbid")

    path: NotePath
    q: QueryText


class RelatedQuery(BaseModel):
    """`GET /v1/related`."""

    model_config = ConfigDict(extra="forbid")

    path: NotePath
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Notes at most.")] = 10


class LinksQuery(BaseModel):
    """`GET /v1/links`: the views `note` and `mentions` are of the note at `path`, the others of the vault."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[
        str,
        Field(
            description="The note, as in /v1/related. Required for the views note and mentions.",
            json_schema_extra={"maxLength": MAX_PATH_BYTES},
        ),
    ] = ""
    view: Annotated[
        Literal["note", "mentions", "unresolved", "orphans"],
        Field(
            description="The links of a note, places that name it without a link, links of the vault that "
            "lead nowhere, or notes without links."
        ),
    ] = "note"
    limit: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_LIMIT,
            description=f"Entries of each list at most. Without it: {MENTIONS} mentions, all of the others.",
        ),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}),  # null cannot be sent
    ] = None


class NoteQuery(BaseModel):
    """`GET /v1/note`."""

    model_config = ConfigDict(extra="forbid")

    path: NotePath


class RebuildOrder(BaseModel):
    """`POST /v1/rebuild`."""

    model_config = ConfigDict(extra="forbid")

    wait: Annotated[
        bool, Field(description="Answer when the rebuild has ended; otherwise as soon as it has started.")
    ] = True
    refit: Annotated[
        bool, Field(description="Compute new token weights if the number of notes has changed much.")
    ] = True


class VerifyOrder(BaseModel):
    """`POST /v1/verify`."""

    model_config = ConfigDict(extra="forbid")

    repair: Annotated[bool, Field(description="Repair what differs.")] = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of this server and who may call it. `stopping` says that long answers must end."""

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
        responses={"default": answers("An error.", FailureJson)},
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
    return Guard(ParameterCheck(api, allowed_parameters(api.openapi())), rules)


def _is_given_up(stopping: Callable[[], bool]) -> Callable[[], bool]:
    """Says whether nobody waits for the answer of this request any more, or the daemon stops."""
    given_up = GIVEN_UP.get()
    return lambda: stopping() or (given_up is not None and given_up.is_set())


def _add_questions(
    api: FastAPI, service: VaultService, daemon: DaemonJson, stopping: Callable[[], bool]
) -> None:
    from fastapi import Query
    from fastapi.responses import JSONResponse

    # FastAPI notes in a `Query()` which model it stands for, so each route needs its own.

    @api.get("/v1/search", response_model=None, responses={200: answers("Ranked hits.", SearchJson)})
    def search(query: SearchQuery = Query()) -> JSONResponse:
        """Search the notes; the best hits come first."""
        request = SearchRequest(
            query.q, query.limit, query.by == "note", query.as_you_type, query.fresh, query.expand
        )
        return JSONResponse(search_json(service.search(request, is_cancelled=_is_given_up(stopping))))

    @api.get(
        "/v1/explain", response_model=None, responses={200: answers("The note in the answer.", ExplainJson)}
    )
    def explain(query: ExplainQuery = Query()) -> JSONResponse:
        """Where a note is in the answer to a query, and why or why not."""
        is_cancelled = _is_given_up(stopping)
        request = SearchRequest(query.q)
        return JSONResponse(explain_json(service.explain(query.path, request, is_cancelled=is_cancelled)))

    @api.get("/v1/status", response_model=None, responses={200: answers("The state.", StatusJson)})
    def status() -> JSONResponse:
        """The state of the index and of its daemon."""
        return JSONResponse(status_json(service.status(), daemon))

    @api.get("/v1/related", response_model=None, responses={200: answers("The notes near it.", RelatedJson)})
    def related(query: RelatedQuery = Query()) -> JSONResponse:
        """Notes near a note, by meaning and by link."""
        path = service.path_of(query.path)
        return JSONResponse(related_json(path, service.related(path, query.limit)))

    views = answers("The chosen view.", LinksJson, MentionsJson, UnresolvedJson, OrphansJson)

    @api.get("/v1/links", response_model=None, responses={200: views})
    def links(query: LinksQuery = Query()) -> JSONResponse:
        """Links and mentions of a note; unresolved links and orphans of the vault."""
        return JSONResponse(_links_json(service, query))

    @api.get("/v1/note", response_model=None, responses={200: answers("The note.", NoteJson)})
    def note(query: NoteQuery = Query()) -> JSONResponse:
        """The text of a note of the index, as it is in the vault now."""
        return JSONResponse(_note_json(service, query.path))


def _links_json(
    service: VaultService, query: LinksQuery
) -> LinksJson | MentionsJson | UnresolvedJson | OrphansJson:
    match query.view:
        case "note":
            return links_json(service.links(query.path), query.limit)
        case "mentions":
            return mentions_json(service.mentions(query.path, query.limit or MENTIONS))
        case "unresolved":
            return unresolved_json(service.unresolved_links(), query.limit)
        case "orphans":
            return orphans_json(service.orphans(), query.limit)


def _note_json(service: VaultService, path: str) -> NoteJson:
    """Only notes of the index are shown, never a file that is excluded."""
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

    built = answers("The rebuild has ended.", RebuildJson)
    under_way = answers("The progress of the rebuild.", RebuildRunJson)

    @api.post("/v1/rebuild", response_model=None, responses={200: built, 202: under_way})
    def rebuild(order: RebuildOrder) -> JSONResponse:
        """Rebuild the index. If a rebuild is running already, no second one starts."""
        rebuilds.start(refit=order.refit)
        if not order.wait:
            return JSONResponse(rebuilds.state(), status_code=202)
        ended = rebuilds.wait(stopping)
        if ended["error"]:
            return _error(_status_of_rebuild(ended["error"]["kind"]), ended["error"])
        if not ended["report"]:
            return _error(
                503,
                {"kind": "stopping", "message": "the daemon is stopping; the previous index stays in use"},
            )
        return JSONResponse(ended["report"])

    @api.get("/v1/rebuild", response_model=None, responses={200: under_way})
    def rebuild_state() -> JSONResponse:
        """The progress of the rebuild that is running, or the result of the last one."""
        return JSONResponse(rebuilds.state())

    @api.post("/v1/verify", response_model=None, responses={200: answers("The differences.", VerifyJson)})
    def verify(order: VerifyOrder) -> JSONResponse:
        """Compare the vault, the catalog and the derived indices, and list every difference."""
        return JSONResponse(verify_json(service.verify(repair=order.repair)))


def _add_events(api: FastAPI, events: StatusEvents) -> None:
    from fastapi.responses import Response, StreamingResponse

    @api.get("/v1/events", response_model=None, response_class=StreamingResponse)
    async def stream() -> Response:
        """A stream of server-sent events: the status, sent each time it changes."""
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
        problems = "; ".join(_problem_text(problem) for problem in error.errors())
        return _error(422, {"kind": "request", "message": problems})

    async def of_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return _error(error.status_code, {"kind": "request", "message": str(error.detail)})

    async def unforeseen(_: Request, error: Exception) -> JSONResponse:
        _LOG.error("a request failed", exc_info=error)
        return _error(500, {"kind": "internal", "message": "internal error: see the daemon's log"})

    api.add_exception_handler(VaultIndexerError, of_ours)
    api.add_exception_handler(RequestValidationError, of_request)
    api.add_exception_handler(HTTPException, of_http)
    api.add_exception_handler(Exception, unforeseen)


def _problem_text(problem: Mapping[str, Any]) -> str:
    """What pydantic found wrong, on one line: where, which value, and what is allowed."""
    where, message = ".".join(str(part) for part in problem["loc"][1:]), problem["msg"]
    if problem["type"] == "missing":
        return f"{where}: is required" if where else "the body is missing: send a JSON object"
    if problem["type"] == "extra_forbidden":
        return f"unknown key {where!r}"
    value = problem.get("input")
    if where and isinstance(value, str | int | float):
        return f"{where} = {json.dumps(value)[:_VALUE_CHARS]}: {message}"
    return f"{where or 'body'}: {message}"


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


def _status_of_rebuild(kind: str) -> int:
    """A rebuild that failed in its own thread left only the kind of its error."""
    return {"internal": 500, "provider": 502}.get(kind, 503)


def _error(status: int, error: ErrorJson) -> JSONResponse:
    from fastapi.responses import JSONResponse

    return JSONResponse({"error": error}, status_code=status)
