"""The HTTP API: a route for each row of the endpoint table, behind the guard. It contains no logic of its
own."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from vault_indexer.config.settings import ServerSettings
from vault_indexer.contract import Json
from vault_indexer.contract.codec import encode
from vault_indexer.contract.parameters import Value, request_of
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.errors import ProviderError, VaultIndexerError
from vault_indexer.model import AskLine, AskRequest, DaemonState, ErrorReport, Proof, StatusReport
from vault_indexer.serve.api.endpoints import ASK, ENDPOINTS, PROOF, REBUILD, REBUILD_STATE, Endpoint
from vault_indexer.serve.api.events import StatusEvents
from vault_indexer.serve.api.openapi import LINES, OPENAPI_PATH, ApiDocument
from vault_indexer.serve.api.respond import (
    AgentActions,
    AnswerContext,
    answer,
    ask_events,
    extension_routes,
    no_actions,
)
from vault_indexer.serve.http.guard import GIVEN_UP, App, Guard, GuardRules
from vault_indexer.serve.http.metrics import METRICS_PATH, DaemonMetrics
from vault_indexer.serve.http.page_files import page_files, page_routes
from vault_indexer.serve.http.rebuilds import VaultRebuilds
from vault_indexer.serve.http.routes import (
    EndpointRoute,
    EndpointRoutes,
    ParameterCheck,
    Respond,
    Route,
    allowed_parameters,
    error_report,
    error_response,
    failure,
    internal_error,
)
from vault_indexer.serve.http.vault_choice import CHOSEN_VAULT, VaultChoice, without_prefix
from vault_indexer.serve.http.vault_files import FILE_PATH, file_route, has_pass
from vault_indexer.serve.mcp.app import MCP_ROUTES, McpApp, VaultTools
from vault_indexer.serve.mcp.protocol import PATH as MCP_PATH
from vault_indexer.system import record
from vault_indexer.vaults import Vaults

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route as StarletteRoute

_LOG = logging.getLogger(__name__)
EVENTS_PATH = "/v1/events"
_ABOUT_EVENTS = (
    "A stream of server-sent events: `status` each time it changes, and `notes` with the notes that changed."
)
_EVENT_STREAM: Json = {
    "description": "The stream.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@record
class Site:
    """The vaults and actions that a server provides, and its announcement.

    `info` is announced: its address and token. `actions_of` maps a vault name to the actions of agent tools.
    `announce_again` is called every second, to rewrite a deleted `daemon.json`. `failure` is the reason why
    the server has to end, or None.
    """

    vaults: Vaults
    info: DaemonInfo
    settings: ServerSettings
    actions_of: Callable[[str], AgentActions] = no_actions
    announce_again: Callable[[], None] = lambda: None
    failure: Callable[[], VaultIndexerError | None] = lambda: None

    @property
    def port(self) -> int:
        return urlsplit(self.info.url).port or 0


def make_app(site: Site, stopping: Callable[[], bool] = lambda: False) -> App:
    """Builds the ASGI application, including the guard, with a route for each endpoint, those of optional
    packages included. When the server is `stopping`, long answers end."""
    vaults, settings = site.vaults, site.settings
    endpoints = (*ENDPOINTS, *(route.endpoint for route in extension_routes()))
    hidden = {route.endpoint.name for route in extension_routes() if not route.is_public}
    daemon = DaemonState(running=True, pid=os.getpid(), url=site.info.url)
    general = AnswerContext(vaults, daemon, stopping, actions_of=site.actions_of)
    context = partial(_context_of_request, general)
    responses: dict[str, Respond] = {
        **_responses_of_rebuilds(VaultRebuilds(vaults), stopping),
        ASK.name: _respond_to_question(context),
        PROOF.name: partial(_prove, site),
    }
    document = ApiDocument(
        "vault-indexer", "Search a folder of Markdown notes by meaning, by word and by link."
    )
    mcp = McpApp(VaultTools(general, endpoints, settings.timeout_s))
    routes: dict[Route, App] = dict.fromkeys(MCP_ROUTES, mcp)
    # A client must be able to name a vault that is added while the server runs.
    names_vault = vaults.are_several or vaults.may_change
    for endpoint in endpoints:
        if endpoint.name not in hidden:
            document.add(endpoint, names_vault=names_vault and endpoint.vaults != "none")
        respond = responses.get(endpoint.name) or _respond(endpoint, context)
        routes[endpoint.method, endpoint.path] = EndpointRoute(endpoint, respond)
    document.add_other("stream", EVENTS_PATH, _ABOUT_EVENTS, _EVENT_STREAM)
    document.add(PROOF)
    routes[PROOF.method, PROOF.path] = EndpointRoute(PROOF, responses[PROOF.name])
    page = page_files()
    known = frozenset(
        {EVENTS_PATH, PROOF.path, MCP_PATH, METRICS_PATH, FILE_PATH, *(one.path for one in endpoints)}
    )
    metrics = DaemonMetrics(partial(_statuses, vaults), known)
    others = [
        *page_routes(page),
        file_route(lambda path: vaults.service(CHOSEN_VAULT.get()).file(path)),
        _events_route(
            StatusEvents(
                lambda: replace(vaults.status(CHOSEN_VAULT.get()), daemon=daemon),
                stopping,
                lambda before, now: vaults.service(CHOSEN_VAULT.get()).changes(before, now),
            )
        ),
        get_route(METRICS_PATH, partial(_figures, metrics)),
    ]
    rules = GuardRules(
        token=site.info.token,
        port=site.port,
        allowed_origins=frozenset(settings.allowed_origins),
        max_concurrent=settings.max_concurrent,
        timeout_s=settings.timeout_s,
        long_lived=frozenset({EVENTS_PATH, MCP_PATH, *(one.path for one in endpoints if one.is_long_lived)}),
        quick=frozenset(one.path for one in (*endpoints, PROOF) if one.is_quick),
        # A client asks for the proof before it trusts the server with the token.
        public=frozenset({PROOF.path, *page}),
        has_pass=partial(has_pass, site.info.token),
        methods=methods_of(routes, others),
    )
    answering = EndpointRoutes(routes, other_routes(others, document))
    # The guard is outermost: nothing behind it sees a request that it refuses.
    guarded = Guard(VaultChoice(answering, vaults, rules.public), rules)
    return without_prefix(metrics.watch(guarded))


def _statuses(vaults: Vaults) -> Mapping[str, StatusReport]:
    found = {}
    for name in vaults.names:
        # A vault that is not open has no figures, and must not hide those of the others.
        with suppress(VaultIndexerError):
            found[name] = vaults.service(name).status()
    return found


def _context_of_request(general: AnswerContext) -> AnswerContext:
    """The context for this request: limited to the vault that it names, and cancelled when no client waits
    for the answer any more."""
    given_up, stopping = GIVEN_UP.get(), general.is_cancelled
    return replace(
        general,
        vault=CHOSEN_VAULT.get(),
        is_cancelled=lambda: stopping() or (given_up is not None and given_up.is_set()),
    )


def _respond(endpoint: Endpoint[Any], context: Callable[[], AnswerContext]) -> Respond:
    from starlette.responses import JSONResponse

    def respond(arguments: Mapping[str, Value]) -> JSONResponse:
        return JSONResponse(encode(answer(endpoint, context(), arguments)))

    return respond


def _respond_to_question(context: Callable[[], AnswerContext]) -> Respond:
    from starlette.responses import StreamingResponse

    whole = _respond(ASK, context)

    def respond(arguments: Mapping[str, Value]) -> Response:
        if not arguments["stream"]:
            return whole(arguments)
        events = ask_events(context(), request_of(AskRequest, arguments))
        first = next(events)  # an error up to here has its own status
        return StreamingResponse(_lines(first, events), media_type=LINES)

    return respond


def _lines(first: AskLine, events: Iterator[AskLine]) -> Iterator[str]:
    """Yields each event as a line of JSON, including errors after the first."""
    yield _line(first)
    try:
        yield from map(_line, events)
    except VaultIndexerError as error:
        yield _line(AskLine("error", error_report(error)))


def _line(event: AskLine) -> str:
    return json.dumps(encode(event), ensure_ascii=False) + "\n"


def methods_of(rows: Mapping[Route, App], others: Sequence[StarletteRoute]) -> dict[str, frozenset[str]]:
    """The methods of each path, including those that `/openapi.json` does not list."""
    found: dict[str, frozenset[str]] = {OPENAPI_PATH: frozenset({"GET", "HEAD"})}
    for method, path in rows:
        found[path] = found.get(path, frozenset()) | {method}
    return found | {route.path: frozenset(route.methods or ()) for route in others}


def get_route(path: str, answer: Callable[..., object]) -> StarletteRoute:
    """A route that answers only GET, not HEAD."""
    from starlette.routing import Route as StarletteRoute

    route = StarletteRoute(path, answer)
    route.methods = {"GET"}
    return route


def other_routes(routes: Sequence[StarletteRoute], document: ApiDocument) -> App:
    """The application for the routes that are not rows, and for the document. It rejects unknown parameters
    and returns all errors in the common format."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse
    from starlette.routing import Route as StarletteRoute

    described = document.json()

    async def send_document(_: Request) -> JSONResponse:
        return JSONResponse(described)

    async def answer_error(_: Request, error: Exception) -> JSONResponse:
        match error:
            case VaultIndexerError():
                return error_response(error)
            case HTTPException():
                return failure(error.status_code, ErrorReport("request", error.detail))
            case _:
                _LOG.error("a request failed", exc_info=error)
                return internal_error()

    app = Starlette(
        routes=[StarletteRoute(OPENAPI_PATH, send_document), *routes],
        exception_handlers=dict.fromkeys((VaultIndexerError, HTTPException, Exception), answer_error),
    )
    return ParameterCheck(cast("App", app), allowed_parameters(described))


def _responses_of_rebuilds(of_vaults: VaultRebuilds, stopping: Callable[[], bool]) -> Mapping[str, Respond]:
    from starlette.responses import JSONResponse

    def rebuild(arguments: Mapping[str, Value]) -> JSONResponse:
        rebuilds = of_vaults.of_vault(CHOSEN_VAULT.get())
        rebuilds.start(RebuildOptions(*(bool(arguments[name]) for name in RebuildOptions._fields)))
        if not arguments["wait"]:
            return JSONResponse(encode(rebuilds.state()), status_code=202)
        ended = rebuilds.wait(stopping)
        if ended.error:
            # Only the kind of error remains of a rebuild that failed in its own thread.
            status = {"internal": 500, "provider": 502}.get(ended.error.kind, 503)
            return failure(status, ended.error)
        if not ended.report:
            return failure(
                503, ErrorReport("stopping", "the daemon is stopping; the previous index stays in use")
            )
        return JSONResponse(encode(ended.report))

    def state(_: Mapping[str, Value]) -> JSONResponse:
        return JSONResponse(encode(of_vaults.of_vault(CHOSEN_VAULT.get()).state()))

    return {REBUILD.name: rebuild, REBUILD_STATE.name: state}


def _events_route(events: StatusEvents) -> StarletteRoute:
    from starlette.responses import StreamingResponse

    async def stream(_: Request) -> Response:
        # An unavailable vault is refused with its own status, which is possible only before the stream
        # starts.
        await asyncio.to_thread(events.look)
        if events.is_full():
            return failure(503, ErrorReport("busy", "too many event streams are open"))
        return StreamingResponse(events.stream(), media_type="text/event-stream")

    return get_route(EVENTS_PATH, stream)


def _prove(site: Site, arguments: Mapping[str, Value]) -> JSONResponse:
    from starlette.responses import JSONResponse

    message = f"{site.port}:{arguments['challenge']}".encode()
    proof = Proof(hmac.digest(site.info.token.encode(), message, "sha256").hex(), os.getpid())
    return JSONResponse(encode(proof))


def _figures(metrics: DaemonMetrics, _: Request) -> Response:
    from starlette.responses import Response

    try:
        content, kind = metrics.exposition()
    except ProviderError as error:
        return failure(501, error_report(error))
    return Response(content, headers={"Content-Type": kind})
