"""The HTTP API of a gateway, behind the same guard as a daemon's."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vault_indexer.config.gateway import GatewaySettings, GatewayUser
from vault_indexer.contract.bounds import check_query
from vault_indexer.contract.codec import encode, json_fields
from vault_indexer.errors import UsageError
from vault_indexer.gateway.endpoints import GATEWAY_SEARCH, GATEWAY_VAULTS
from vault_indexer.gateway.metrics import GatewayMetrics
from vault_indexer.gateway.published import PublishedVaults
from vault_indexer.gateway.rights import CurrentUsers
from vault_indexer.gateway.search import GatewaySearch, SearchOrder
from vault_indexer.model import (
    Failure,
    GatewayAnswer,
    GatewayHealth,
    GatewayHit,
    PublishedVault,
    PublishedVaultList,
)
from vault_indexer.serve.endpoints import Endpoint, Value
from vault_indexer.serve.guard import (
    App,
    Guard,
    GuardRules,
    Message,
    Receive,
    Refusal,
    Send,
    headers_by_name,
    refuse,
    token_of,
    wrong_token,
)
from vault_indexer.serve.http import add_errors, describe, describe_token, methods_of
from vault_indexer.serve.metrics import METRICS_PATH
from vault_indexer.serve.openapi import answers
from vault_indexer.serve.parameters import ParameterCheck, Route, allowed_parameters
from vault_indexer.serve.routes import EndpointRoute, EndpointRoutes, Respond

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.responses import Response

HEALTH_PATH = "/healthz"
READY_PATH = "/readyz"
ROUTES = frozenset({GATEWAY_SEARCH.path, GATEWAY_VAULTS.path, HEALTH_PATH, READY_PATH, METRICS_PATH})

_LIMIT = 10
_TEXT_KEYS = frozenset({"snippet", "marks", "content", "line"})
_WHERE_TOKEN = "who runs the gateway gives you one"
_PUBLIC = frozenset({HEALTH_PATH, READY_PATH})
_FORBIDDEN = Refusal(403, "rights", "this user may not read /metrics: set metrics = true in its [[users]]")

_USER: ContextVar[GatewayUser] = ContextVar("gateway_user")
"""Of the request that a handler works on; set by `_WithUser` alone."""


@dataclass(frozen=True, slots=True)
class GatewayParts:
    """What a gateway answers with."""

    settings: GatewaySettings
    users: CurrentUsers
    published: PublishedVaults
    search: GatewaySearch
    metrics: GatewayMetrics


def make_gateway_app(parts: GatewayParts, port: int) -> App:
    """The ASGI application, guard and figures included."""
    from fastapi import FastAPI

    api = FastAPI(
        title="vault-indexer gateway",
        description="Search the vaults of many keepers.",
        docs_url=None,
        redoc_url=None,
        responses={"default": answers("An error.", Failure)},
    )
    responses: tuple[tuple[Endpoint[Any], Respond], ...] = (
        (GATEWAY_SEARCH, lambda given: _json(_search(parts, given))),
        (GATEWAY_VAULTS, lambda _: _json(_vaults(parts))),
    )
    routes: dict[Route, App] = {}
    for endpoint, respond in responses:
        describe(api, endpoint)
        routes[endpoint.method, endpoint.path] = EndpointRoute(endpoint, respond)
    _add_health(api, parts)
    _add_metrics(api, parts)
    add_errors(api)
    describe_token(api)
    server = parts.settings.server
    rules = GuardRules(
        token="",
        port=port,
        allowed_origins=frozenset(server.allowed_origins),
        max_concurrent=server.max_concurrent,
        timeout_s=server.timeout_s,
        public=_PUBLIC,
        methods=methods_of(api),
        hosts=frozenset(name.lower() for name in server.allowed_hosts),
        knows_token=lambda token: parts.users.by_token(token) is not None,
        where_token=_WHERE_TOKEN,
    )
    checked = ParameterCheck(api, allowed_parameters(api.openapi()))
    return parts.metrics.watch(Guard(_WithUser(EndpointRoutes(routes, checked), parts.users), rules))


class _WithUser:
    """ASGI middleware behind the guard: says to the handlers whose request it is."""

    def __init__(self, app: App, users: CurrentUsers) -> None:
        self._app = app
        self._users = users

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request on; only the right users come to the figures."""
        if scope["type"] != "http" or scope["path"] in _PUBLIC:
            await self._app(scope, receive, send)
            return
        user = self._users.by_token(token_of(headers_by_name(scope["headers"])))
        if user is None:  # the guard knew the token, and it was taken away since
            await refuse(send, wrong_token(_WHERE_TOKEN))
        elif scope["path"] == METRICS_PATH and not user.metrics:
            await refuse(send, _FORBIDDEN)
        else:
            _USER.set(user)
            await self._app(scope, receive, send)


def _search(parts: GatewayParts, given: Mapping[str, Value]) -> GatewayAnswer:
    query, fields = str(given["q"]), str(given["fields"])
    check_query(query)
    wanted = _hit_keys(fields)
    order = SearchOrder(
        query,
        int(given["limit"] or _LIMIT),
        by_note=given["by"] == "note",
        vault=str(given["vault"]),
        folder=str(given["folder"]).strip("/"),
        kind=str(given["kind"]),
        with_text=bool(wanted & _TEXT_KEYS),
    )
    return replace(parts.search.search(_USER.get(), order), keys=wanted if fields else None)


def _hit_keys(fields: str) -> frozenset[str]:
    known = frozenset(one.key for one in json_fields(GatewayHit))
    wanted = frozenset(name.strip() for name in fields.split(",")) if fields else known
    unknown = sorted(wanted - known)
    if unknown:
        raise UsageError(f"fields: a hit has no {unknown[0]!r}; it has {', '.join(sorted(known))}")
    return wanted


def _vaults(parts: GatewayParts) -> PublishedVaultList:
    states = parts.published.of(_USER.get()).values()
    return PublishedVaultList(
        tuple(
            PublishedVault(
                name=state.name,
                keeper=state.keeper,
                seq=state.seq,
                generation=state.generation,
                chunks=state.chunks,
                languages=tuple(state.languages),
                model=state.model,
            )
            for state in sorted(states, key=lambda one: (one.name, one.keeper, one.vault))
        )
    )


def _add_health(api: FastAPI, parts: GatewayParts) -> None:
    from fastapi.responses import JSONResponse

    described = answers("It is so.", GatewayHealth)

    @api.get(HEALTH_PATH, response_model=None, responses={200: described}, openapi_extra={"security": []})
    async def healthy() -> JSONResponse:
        """Whether the process answers."""
        return JSONResponse({"ok": True})

    @api.get(READY_PATH, response_model=None, responses={200: described}, openapi_extra={"security": []})
    def ready() -> JSONResponse:
        """Whether Milvus answers; 503 if not."""
        parts.published.all()
        return JSONResponse({"ok": True})


def _add_metrics(api: FastAPI, parts: GatewayParts) -> None:
    from fastapi.responses import Response

    @api.get(METRICS_PATH, response_model=None, response_class=Response)
    def metrics() -> Response:
        """Figures for Prometheus."""
        content, kind = parts.metrics.exposition()
        return Response(content, headers={"Content-Type": kind})


def _json(answer: GatewayAnswer | PublishedVaultList) -> Response:
    from fastapi.responses import JSONResponse

    return JSONResponse(encode(answer))
