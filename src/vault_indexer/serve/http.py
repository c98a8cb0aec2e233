"""The HTTP API: a route for each row of the table of endpoints, behind the guard. No logic of its own."""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vault_indexer.config.settings import ServerSettings
from vault_indexer.errors import (
    BackendError,
    NoteError,
    ProviderError,
    QueryTimeoutError,
    UnknownNoteError,
    UnknownVaultError,
    UsageError,
    VaultIndexerError,
)
from vault_indexer.serve.answers import AnswerContext, answer, ask_events
from vault_indexer.serve.endpoints import ASK, ENDPOINTS, REBUILD, REBUILD_STATE, Endpoint, Value
from vault_indexer.serve.events import StatusEvents
from vault_indexer.serve.guard import GIVEN_UP, App, Guard, GuardRules
from vault_indexer.serve.mcp.actions import NO_ACTIONS, AgentActions
from vault_indexer.serve.mcp.app import McpApp, with_mcp
from vault_indexer.serve.mcp.protocol import PATH as MCP_PATH
from vault_indexer.serve.mcp.tools import ToolContext
from vault_indexer.serve.metrics import METRICS_PATH, DaemonMetrics
from vault_indexer.serve.openapi import answers
from vault_indexer.serve.page_files import add_page, page_files
from vault_indexer.serve.parameters import ParameterCheck, allowed_parameters
from vault_indexer.serve.rebuilds import Rebuilds
from vault_indexer.serve.request_models import problem_text, request_model
from vault_indexer.serve.shapes import AskEventJson, DaemonJson, ErrorJson, FailureJson
from vault_indexer.serve.wire import error_json, status_json
from vault_indexer.service import VaultService

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse, Response

_LOG = logging.getLogger(__name__)
_EVENTS = "/v1/events"
"""The one route that is not in the table of endpoints: its answer is a stream, not JSON."""

_RETRY_AFTER_S = "2"

Respond = Callable[[Mapping[str, Value]], "Response"]
"""The response to a request, from the values of its parameters."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The token and the port of this server, and its settings. `stopping` says that long answers must end.
    `actions` are what tools of agents may do beyond asking the service."""

    token: str
    port: int
    settings: ServerSettings
    stopping: Callable[[], bool] = lambda: False
    actions: AgentActions = NO_ACTIONS


def make_app(
    service: VaultService, options: ServerOptions, endpoints: Sequence[Endpoint[Any]] = ENDPOINTS
) -> App:
    """The ASGI application, guard included, with a route for each of the endpoints."""
    from fastapi import FastAPI

    api = FastAPI(
        title="vault-indexer",
        description="Search a folder of Markdown notes by meaning, by word and by link.",
        docs_url=None,
        redoc_url=None,
        responses={"default": answers("An error.", FailureJson)},
    )
    daemon: DaemonJson = {"running": True, "pid": os.getpid(), "url": f"http://127.0.0.1:{options.port}"}
    responses = {
        **_responses_of_rebuilds(Rebuilds(service), options.stopping),
        ASK.name: _respond_to_question(service, daemon, options.stopping),
    }
    for endpoint in endpoints:
        respond = responses.get(endpoint.name) or _respond(endpoint, service, daemon, options.stopping)
        add_route(api, endpoint, respond)
    _add_events(api, StatusEvents(lambda: status_json(service.status(), daemon), options.stopping))
    page = page_files()
    add_page(api, page)
    routes = frozenset({_EVENTS, MCP_PATH, METRICS_PATH, *(one.path for one in endpoints)})
    metrics = DaemonMetrics(service.status, routes)
    _add_metrics(api, metrics)
    add_errors(api)
    rules = GuardRules(
        token=options.token,
        port=options.port,
        allowed_origins=frozenset(options.settings.allowed_origins),
        max_concurrent=options.settings.max_concurrent,
        timeout_s=options.settings.timeout_s,
        long_lived=frozenset({_EVENTS, MCP_PATH, *(one.path for one in endpoints if one.is_long_lived)}),
        public=frozenset(page),
    )
    mcp = McpApp(partial(_tool_context, service, options, daemon), endpoints, options.settings.timeout_s)
    checked = ParameterCheck(api, allowed_parameters(api.openapi()))
    return metrics.watch(Guard(with_mcp(mcp, checked), rules))


def _tool_context(service: VaultService, options: ServerOptions, daemon: DaemonJson) -> ToolContext:
    return ToolContext(AnswerContext(service, daemon, options.stopping), options.actions)


def _is_given_up(stopping: Callable[[], bool]) -> Callable[[], bool]:
    """Says whether nobody waits for the answer of this request any more, or the daemon stops."""
    given_up = GIVEN_UP.get()
    return lambda: stopping() or (given_up is not None and given_up.is_set())


def _respond(
    endpoint: Endpoint[Any], service: VaultService, daemon: DaemonJson, stopping: Callable[[], bool]
) -> Respond:
    from fastapi.responses import JSONResponse

    def respond(arguments: Mapping[str, Value]) -> JSONResponse:
        context = AnswerContext(service, daemon, _is_given_up(stopping))
        return JSONResponse(answer(endpoint, context, arguments))

    return respond


def _respond_to_question(service: VaultService, daemon: DaemonJson, stopping: Callable[[], bool]) -> Respond:
    """The response of `ask`: whole, or as a stream of lines."""
    from fastapi.responses import StreamingResponse

    whole = _respond(ASK, service, daemon, stopping)

    def respond(arguments: Mapping[str, Value]) -> Response:
        if not arguments["stream"]:
            return whole(arguments)
        context = AnswerContext(service, daemon, _is_given_up(stopping))
        events = ask_events(context, **arguments)  # type: ignore[arg-type] # checked by the model
        first = next(events)  # an error so far has a status of its own
        return StreamingResponse(
            _lines(first, events), media_type="application/x-ndjson", headers={"Cache-Control": "no-store"}
        )

    return respond


def _lines(first: AskEventJson, events: Iterator[AskEventJson]) -> Iterator[str]:
    """Each event as a line of JSON; an error after the first is a line, too."""
    yield json.dumps(first, ensure_ascii=False) + "\n"
    try:
        for event in events:
            yield json.dumps(event, ensure_ascii=False) + "\n"
    except VaultIndexerError as error:
        yield json.dumps({"event": "error", "data": error_json(error)}, ensure_ascii=False) + "\n"


def add_route(api: FastAPI, endpoint: Endpoint[Any], respond: Respond) -> None:
    """Add the route of an endpoint. FastAPI reads its parameters from the signature of the function, runs the
    function in a thread, and names the operation in `/openapi.json` after the endpoint."""
    from fastapi import Query

    in_query = endpoint.method == "GET"

    def route(**received: BaseModel) -> Response:
        values = received.get("parameters")
        return respond({one.name: getattr(values, one.name) for one in endpoint.parameters})

    signature: list[inspect.Parameter] = []
    if endpoint.parameters or not in_query:
        # FastAPI notes in a `Query()` which model it stands for, so each route needs its own.
        default = Query() if in_query else inspect.Parameter.empty
        model = request_model(endpoint)
        signature.append(
            inspect.Parameter("parameters", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=model)
        )
    route.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined] # read by inspect
    described = ((200, endpoint.answer_help, endpoint.answer), *endpoint.other_answers)
    api.add_api_route(
        endpoint.path,
        route,
        methods=[endpoint.method],
        name=endpoint.name,
        description=endpoint.help,
        response_model=None,
        responses={status: answers(text, shape) for status, text, shape in described},
    )


def _responses_of_rebuilds(rebuilds: Rebuilds, stopping: Callable[[], bool]) -> Mapping[str, Respond]:
    """The responses of the two endpoints that start and watch a rebuild."""
    from fastapi.responses import JSONResponse

    def rebuild(arguments: Mapping[str, Value]) -> JSONResponse:
        rebuilds.start(refit=bool(arguments["refit"]))
        if not arguments["wait"]:
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

    def state(_: Mapping[str, Value]) -> JSONResponse:
        return JSONResponse(rebuilds.state())

    return {REBUILD.name: rebuild, REBUILD_STATE.name: state}


def _add_events(api: FastAPI, events: StatusEvents) -> None:
    from fastapi.responses import StreamingResponse

    @api.get(_EVENTS, response_model=None, response_class=StreamingResponse)
    async def stream() -> Response:
        """A stream of server-sent events: the status, sent each time it changes."""
        if events.is_full():
            return _error(503, {"kind": "busy", "message": "too many event streams are open"})
        return StreamingResponse(
            events.stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )


def _add_metrics(api: FastAPI, metrics: DaemonMetrics) -> None:
    from fastapi.responses import Response

    @api.get(METRICS_PATH, include_in_schema=False, response_model=None, response_class=Response)
    def figures() -> Response:
        """Figures for Prometheus."""
        try:
            content, kind = metrics.exposition()
        except ProviderError as error:
            return _error(501, error_json(error))
        return Response(content, headers={"Content-Type": kind})


def add_errors(api: FastAPI) -> None:
    """Answer every error in the one shape that errors have."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.requests import Request
    from starlette.exceptions import HTTPException

    async def of_ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, VaultIndexerError)
        answer = _error(_status_of(error), error_json(error))
        if isinstance(error, BackendError):
            answer.headers["Retry-After"] = _RETRY_AFTER_S
        return answer

    async def of_request(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problems = "; ".join(problem_text(problem["loc"][1:], problem) for problem in error.errors())
        return _error(422, {"kind": "request", "message": problems})

    async def of_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return _error(error.status_code, {"kind": "request", "message": str(error.detail)})

    async def answer_unforeseen(_: Request, error: Exception) -> JSONResponse:
        _LOG.error("a request failed", exc_info=error)
        return _error(500, {"kind": "internal", "message": "internal error: see the daemon's log"})

    api.add_exception_handler(VaultIndexerError, of_ours)
    api.add_exception_handler(RequestValidationError, of_request)
    api.add_exception_handler(HTTPException, of_http)
    api.add_exception_handler(Exception, answer_unforeseen)


def _status_of(error: VaultIndexerError) -> int:
    match error:
        case NoteError() | UnknownNoteError() | UnknownVaultError():
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
