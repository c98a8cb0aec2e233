"""The HTTP API: a route for each row of the table of endpoints, behind the guard. No logic of its own."""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vault_indexer.config.settings import ServerSettings
from vault_indexer.contract.codec import encode
from vault_indexer.errors import ProviderError, VaultIndexerError
from vault_indexer.model import AskLine, DaemonState, ErrorReport, Failure, Proof, StatusReport
from vault_indexer.serve.answers import AnswerContext, answer, ask_events
from vault_indexer.serve.desk import EvalDesk
from vault_indexer.serve.endpoints import ASK, ENDPOINTS, REBUILD, REBUILD_STATE, VAULT, Endpoint, Value
from vault_indexer.serve.events import StatusEvents
from vault_indexer.serve.guard import GIVEN_UP, App, Guard, GuardRules
from vault_indexer.serve.mcp.actions import NO_ACTIONS, AgentActions
from vault_indexer.serve.mcp.app import McpApp, with_mcp
from vault_indexer.serve.mcp.protocol import PATH as MCP_PATH
from vault_indexer.serve.mcp.tools import ToolContext
from vault_indexer.serve.metrics import METRICS_PATH, DaemonMetrics
from vault_indexer.serve.openapi import LINES, answer_type, answers
from vault_indexer.serve.page_files import add_page, page_files
from vault_indexer.serve.parameters import ParameterCheck, Route, allowed_parameters
from vault_indexer.serve.rebuilds import VaultRebuilds
from vault_indexer.serve.request_models import problem_text, request_model
from vault_indexer.serve.responses import (
    error_report,
    error_response,
    failure,
    internal_error,
    wrong_request,
)
from vault_indexer.serve.routes import EndpointRoute, EndpointRoutes, Respond
from vault_indexer.serve.vault_choice import CHOSEN_VAULT, VaultChoice, without_prefix
from vault_indexer.vaults import Vaults

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse, Response

_LOG = logging.getLogger(__name__)
_EVENTS = "/v1/events"
_PROOF = "/v1/proof"
"""The routes that are not in the table of endpoints: a stream, and an answer to who has no token."""


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What the server offers beyond asking the service, given by whoever wires it: `actions` are what tools
    of agents may do, `desk` keeps grades and clicks; None: nothing does."""

    actions: AgentActions = NO_ACTIONS
    desk: EvalDesk | None = None


PartsOf = Callable[[str], ServerParts]
"""The parts for the vault of a name; "" where a request names none."""


def no_parts(_: str) -> ServerParts:
    """Those of a server that only asks the service."""
    return ServerParts()


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The token and the port of this server, and its settings. `stopping` says that long answers must end.
    `parts` gives what it offers for the vault of a name beyond asking the service; "" is no name."""

    token: str
    port: int
    settings: ServerSettings
    stopping: Callable[[], bool] = lambda: False
    parts: PartsOf = no_parts


def make_app(vaults: Vaults, options: ServerOptions, endpoints: Sequence[Endpoint[Any]] = ENDPOINTS) -> App:
    """The ASGI application, guard included, with a route for each of the endpoints."""
    from fastapi import FastAPI

    api = FastAPI(
        title="vault-indexer",
        description="Search a folder of Markdown notes by meaning, by word and by link.",
        docs_url=None,
        redoc_url=None,
        responses={"default": answers("An error.", Failure)},
    )
    daemon = DaemonState(running=True, pid=os.getpid(), url=f"http://127.0.0.1:{options.port}")
    context = partial(_context_of_request, vaults, daemon, options)
    responses = {
        **_responses_of_rebuilds(VaultRebuilds(vaults), options.stopping),
        ASK.name: _respond_to_question(context),
    }
    routes: dict[Route, App] = {}
    names_vault = vaults.are_several or vaults.may_change
    for endpoint in endpoints:
        describe(api, endpoint, names_vault=names_vault and endpoint.vaults != "none")
        respond = responses.get(endpoint.name) or _respond(endpoint, context)
        routes[endpoint.method, endpoint.path] = EndpointRoute(endpoint, respond)
    _add_events(api, StatusEvents(partial(_status, vaults, daemon), options.stopping))
    _add_proof(api, options)
    page = page_files()
    add_page(api, page)
    known = frozenset({_EVENTS, _PROOF, MCP_PATH, METRICS_PATH, *(one.path for one in endpoints)})
    metrics = DaemonMetrics(partial(_statuses, vaults), known)
    _add_metrics(api, metrics)
    add_errors(api)
    describe_token(api)
    rules = GuardRules(
        token=options.token,
        port=options.port,
        allowed_origins=frozenset(options.settings.allowed_origins),
        max_concurrent=options.settings.max_concurrent,
        timeout_s=options.settings.timeout_s,
        long_lived=frozenset({_EVENTS, MCP_PATH, *(one.path for one in endpoints if one.is_long_lived)}),
        public=frozenset({_PROOF, *page}),
        methods=methods_of(api) | dict.fromkeys((MCP_PATH, f"{MCP_PATH}/"), frozenset({"POST"})),
    )
    mcp = McpApp(partial(_tool_context, vaults, options, daemon), endpoints, options.settings.timeout_s)
    rest = with_mcp(mcp, ParameterCheck(api, allowed_parameters(api.openapi())))
    guarded = Guard(VaultChoice(EndpointRoutes(routes, rest), vaults, rules.public), rules)
    return without_prefix(metrics.watch(guarded))


def _tool_context(vaults: Vaults, options: ServerOptions, daemon: DaemonState) -> ToolContext:
    context = AnswerContext(vaults, daemon, options.stopping)
    return ToolContext(context, options.parts("").actions, lambda vault: options.parts(vault).actions)


def _statuses(vaults: Vaults) -> Mapping[str, StatusReport]:
    """The state of each vault that can be asked, by its name."""
    found = {}
    for name in vaults.names:
        with suppress(VaultIndexerError):
            found[name] = vaults.one(name).status()
    return found


def _status(vaults: Vaults, daemon: DaemonState) -> StatusReport:
    return replace(vaults.status(CHOSEN_VAULT.get()), daemon=daemon)


def _context_of_request(vaults: Vaults, daemon: DaemonState, options: ServerOptions) -> AnswerContext:
    """What the answer to this request is made from: the vault that it names, and cancelled where nobody waits
    for it any more."""
    vault, given_up, stopping = CHOSEN_VAULT.get(), GIVEN_UP.get(), options.stopping
    return AnswerContext(
        vaults,
        daemon,
        lambda: stopping() or (given_up is not None and given_up.is_set()),
        vault,
        options.parts(vault).desk,
    )


def _respond(endpoint: Endpoint[Any], context: Callable[[], AnswerContext]) -> Respond:
    from fastapi.responses import JSONResponse

    def respond(arguments: Mapping[str, Value]) -> JSONResponse:
        return JSONResponse(encode(answer(endpoint, context(), arguments)))

    return respond


def _respond_to_question(context: Callable[[], AnswerContext]) -> Respond:
    """The response of `ask`: whole, or as a stream of lines."""
    from fastapi.responses import StreamingResponse

    whole = _respond(ASK, context)

    def respond(arguments: Mapping[str, Value]) -> Response:
        if not arguments["stream"]:
            return whole(arguments)
        events = ask_events(context(), **arguments)  # type: ignore[arg-type] # checked by the model
        first = next(events)  # an error so far has a status of its own
        return StreamingResponse(_lines(first, events), media_type=LINES)

    return respond


def _lines(first: AskLine, events: Iterator[AskLine]) -> Iterator[str]:
    """Each event as a line of JSON; an error after the first is a line, too."""
    yield _line(first)
    try:
        yield from map(_line, events)
    except VaultIndexerError as error:
        yield _line(AskLine("error", error_report(error)))


def _line(event: AskLine) -> str:
    return json.dumps(encode(event), ensure_ascii=False) + "\n"


def describe(api: FastAPI, endpoint: Endpoint[Any], *, names_vault: bool = False) -> None:
    """Add the route of an endpoint to `/openapi.json`, the operation named after the endpoint. FastAPI reads
    its parameters from the signature of the function and answers 405 for other methods; `EndpointRoutes`
    calls it for no other request, so the function never runs."""
    from fastapi import Query

    in_query = endpoint.method == "GET"

    def described(**_: BaseModel) -> None:
        raise AssertionError(f"{endpoint.name} is answered by its EndpointRoute")

    signature: list[inspect.Parameter] = []
    if endpoint.parameters or not in_query:
        # FastAPI notes in a `Query()` which model it stands for, so each route needs its own.
        default = Query() if in_query else inspect.Parameter.empty
        model = request_model(endpoint)
        signature.append(
            inspect.Parameter("parameters", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=model)
        )
    described.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined] # read by inspect
    answered = ((200, endpoint.answer_help, endpoint.answer), *endpoint.other_answers)
    api.add_api_route(
        endpoint.path,
        described,
        methods=[endpoint.method],
        name=endpoint.name,
        description=endpoint.help,
        response_model=None,
        responses={
            status: answers(text, answer_type(kind), answer_type(endpoint.line) if status == 200 else None)
            for status, text, kind in answered
        },
        openapi_extra={"parameters": [_vault_parameter()]} if names_vault else None,
    )


def _vault_parameter() -> dict[str, object]:
    """The parameter `vault` as OpenAPI tells it. The routes never see it."""
    schema = {"type": "string", "default": VAULT.default, "maxLength": VAULT.max_chars}
    return {"name": VAULT.name, "in": "query", "required": False, "schema": schema, "description": VAULT.help}


def describe_token(api: FastAPI) -> None:
    """Say in `/openapi.json` that requests need the token. All routes have to be there."""
    document = api.openapi()
    document.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]


def methods_of(api: FastAPI) -> dict[str, frozenset[str]]:
    """The methods of each path, also of those that `/openapi.json` does not list."""
    from starlette.routing import Route as StarletteRoute

    found: dict[str, frozenset[str]] = {}
    for route in api.routes:
        if isinstance(route, StarletteRoute):
            found[route.path] = found.get(route.path, frozenset()) | frozenset(route.methods or ())
    return found


def _responses_of_rebuilds(of_vaults: VaultRebuilds, stopping: Callable[[], bool]) -> Mapping[str, Respond]:
    """The responses of the two endpoints that start and watch a rebuild."""
    from fastapi.responses import JSONResponse

    def rebuild(arguments: Mapping[str, Value]) -> JSONResponse:
        rebuilds = of_vaults.one(CHOSEN_VAULT.get())
        rebuilds.start(refit=bool(arguments["refit"]), force=bool(arguments["force"]))
        if not arguments["wait"]:
            return JSONResponse(encode(rebuilds.state()), status_code=202)
        ended = rebuilds.wait(stopping)
        if ended.error:
            return failure(_status_of_rebuild(ended.error.kind), ended.error)
        if not ended.report:
            return failure(
                503, ErrorReport("stopping", "the daemon is stopping; the previous index stays in use")
            )
        return JSONResponse(encode(ended.report))

    def state(_: Mapping[str, Value]) -> JSONResponse:
        return JSONResponse(encode(of_vaults.one(CHOSEN_VAULT.get()).state()))

    return {REBUILD.name: rebuild, REBUILD_STATE.name: state}


def _add_events(api: FastAPI, events: StatusEvents) -> None:
    from fastapi.responses import StreamingResponse

    told = {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}

    @api.get(_EVENTS, response_model=None, response_class=StreamingResponse, responses={200: told})
    async def stream() -> Response:
        """A stream of server-sent events: the status, sent each time it changes."""
        # A vault that cannot be asked is refused, with a status of its own.
        await asyncio.to_thread(events.look)
        if events.is_full():
            return failure(503, ErrorReport("busy", "too many event streams are open"))
        return StreamingResponse(events.stream(), media_type="text/event-stream")


def _add_proof(api: FastAPI, options: ServerOptions) -> None:
    from fastapi import Query

    def prove(challenge: str = Query(min_length=16, max_length=128)) -> dict[str, str]:
        message = f"{options.port}:{challenge}".encode()
        return {"proof": hmac.digest(options.token.encode(), message, "sha256").hex()}

    api.get(
        _PROOF,
        name="proof",
        description="Proof that this server knows the token, for a page that has it from an earlier run: the "
        "HMAC-SHA256 of `PORT:CHALLENGE` by the token, in hexadecimal digits. Needs no token.",
        response_model=None,
        responses={200: answers("The proof.", Proof)},
        openapi_extra={"security": []},
    )(prove)


def _add_metrics(api: FastAPI, metrics: DaemonMetrics) -> None:
    from fastapi.responses import Response

    @api.get(METRICS_PATH, include_in_schema=False, response_model=None, response_class=Response)
    def figures() -> Response:
        """Figures for Prometheus."""
        try:
            content, kind = metrics.exposition()
        except ProviderError as error:
            return failure(501, error_report(error))
        return Response(content, headers={"Content-Type": kind})


def add_errors(api: FastAPI) -> None:
    """Answer the errors of paths that no endpoint has in the one shape that errors have."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.requests import Request
    from starlette.exceptions import HTTPException

    async def of_parameters(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problems = error.errors()
        return wrong_request("; ".join(problem_text(one["loc"][1:], one) for one in problems))

    async def of_ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, VaultIndexerError)
        return error_response(error)

    async def of_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return failure(error.status_code, ErrorReport("request", str(error.detail)))

    async def answer_unforeseen(_: Request, error: Exception) -> JSONResponse:
        _LOG.error("a request failed", exc_info=error)
        return internal_error()

    api.add_exception_handler(RequestValidationError, of_parameters)
    api.add_exception_handler(VaultIndexerError, of_ours)
    api.add_exception_handler(HTTPException, of_http)
    api.add_exception_handler(Exception, answer_unforeseen)


def _status_of_rebuild(kind: str) -> int:
    """A rebuild that failed in its own thread left only the kind of its error."""
    return {"internal": 500, "provider": 502}.get(kind, 503)
