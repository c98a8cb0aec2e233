"""The routes of the endpoint table: checks a request's parameters and computes its answer in a thread.

The framework answers all other paths, but not these: for a small answer, half of the time (without the
search) was spent in the framework between a request and its function.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

from vault_indexer.contract.parameters import Value, WrongRequestError, own_name, validate
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
from vault_indexer.model import ErrorReport
from vault_indexer.serve.api.endpoints import Endpoint
from vault_indexer.serve.api.openapi import PROBLEM
from vault_indexer.serve.http.guard import (
    App,
    Message,
    Receive,
    Refusal,
    Send,
    headers_by_name,
    problem_details,
    refuse,
)

if TYPE_CHECKING:
    from starlette.responses import JSONResponse, Response


Route = tuple[str, str]
"""Method and path."""

_NAME_CHARS = 60


class ParameterCheck:
    """ASGI middleware behind the guard that rejects query parameters that a route does not have: ignoring one
    would mislead the client. `allowed` names the parameters of each route.

    A path or method that is not in `allowed` is left to the application, which answers 404 or 405.
    """

    def __init__(self, app: App, allowed: Mapping[Route, Sequence[str]]) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["query_string"]:
            allowed = self._allowed.get((scope["method"], scope["path"]))
            pairs = query_pairs(scope["query_string"])
            problem = None if allowed is None else problem_of_query(scope["path"], pairs, allowed)
            if problem:
                await refuse(send, Refusal(422, "request", problem))
                return
        await self._app(scope, receive, send)


def allowed_parameters(document: Mapping[str, object]) -> dict[Route, tuple[str, ...]]:
    """The query parameters of every route of an OpenAPI document, and of the document's own route."""
    found: dict[Route, tuple[str, ...]] = {("GET", "/openapi.json"): ()}
    paths = document["paths"]
    assert isinstance(paths, Mapping)
    for path, methods in paths.items():
        for method, operation in methods.items():
            given = operation.get("parameters", ())
            found[method.upper(), path] = tuple(one["name"] for one in given if one["in"] == "query")
    return found


def problem_of_query(path: str, pairs: Sequence[tuple[str, str]], allowed: Sequence[str]) -> str | None:
    """Describes the first invalid parameter of a query string: unknown to the route, or repeated."""
    given = Counter(name for name, _ in pairs)
    for name, count in given.items():
        shown = repr(name[:_NAME_CHARS])
        if name not in allowed:
            return f"unknown parameter {shown}: {path} takes {', '.join(allowed) or 'no parameters'}"
        if count > 1:
            return f"the parameter {shown} is given {count} times, but must be given once"
    return None


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query string, decoded; a value may be empty."""
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True)


_RETRY_AFTER_S = "2"
_STATUSES = (
    ((NoteError, UnknownNoteError, UnknownVaultError), 404),
    ((UsageError,), 422),
    ((ProviderError,), 502),
    ((QueryTimeoutError,), 504),
    ((VaultIndexerError,), 503),
)
"""The status of an error is that of the first row with one of its classes."""


def error_response(error: VaultIndexerError) -> JSONResponse:
    status = next(status for kinds, status in _STATUSES if isinstance(error, kinds))
    response = failure(status, error_report(error))
    if isinstance(error, BackendError):
        response.headers["Retry-After"] = _RETRY_AFTER_S
    return response


def error_report(error: VaultIndexerError) -> ErrorReport:
    """The report of an error for display; `kind` is its class in snake_case without "Error"."""
    name = type(error).__name__.removesuffix("Error")
    kind = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    return ErrorReport(kind or "error", str(error))


def internal_error() -> JSONResponse:
    """The response 500 to an unexpected error, whose details are only in the log."""
    return failure(500, ErrorReport("internal", "internal error: see the daemon's log"))


def failure(status: int, error: ErrorReport) -> JSONResponse:
    from starlette.responses import JSONResponse

    return JSONResponse(
        problem_details(status, error.kind, error.message), status_code=status, media_type=PROBLEM
    )


_LOG = logging.getLogger(__name__)

Respond = Callable[[Mapping[str, Value]], "Response"]
"""Returns the response to a request, given the values of its parameters. Raises VaultIndexerError."""


class EndpointRoutes:
    """ASGI application that answers requests to endpoints, by method and path, and passes the others on."""

    def __init__(self, routes: Mapping[Route, App], rest: App) -> None:
        self._routes = routes
        self._rest = rest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        await (route or self._rest)(scope, receive, send)


class EndpointRoute:
    """ASGI application of one endpoint.

    It answers 422 for parameters that the endpoint does not accept, and otherwise runs `respond` in one of
    the answering threads. A VaultIndexerError has its own status; any other error is logged and answered with
    500.
    """

    def __init__(self, endpoint: Endpoint[Any], respond: Respond) -> None:
        from starlette.concurrency import run_in_threadpool  # 40 threads, all of which searches may occupy

        self._path = endpoint.path
        self._names = tuple(parameter.name for parameter in endpoint.parameters)
        self._in_query = endpoint.method == "GET"
        self._parameters = endpoint.parameters
        self._respond = respond
        self._has_etag = endpoint.has_etag
        # The event loop's own threads, so that quick answers never wait for a search.
        self._in_thread = asyncio.to_thread if endpoint.is_quick else run_in_threadpool

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            values = self._values(scope["query_string"], b"" if self._in_query else await _body(receive))
        except WrongRequestError as wrong:
            response: Response = failure(422, ErrorReport("request", str(wrong)))
        else:
            response = await self._in_thread(self._response, values)
            if self._has_etag and response.status_code == 200:
                response = _with_etag(response, headers_by_name(scope["headers"]).get("if-none-match", ()))
        await response(cast("Any", scope), cast("Any", receive), cast("Any", send))

    def _values(self, query: bytes, body: bytes) -> Mapping[str, Value]:
        given = query_pairs(query) if query else []
        pairs = [(own_name(name, self._names), value) for name, value in given]
        problem = problem_of_query(self._path, pairs, self._names if self._in_query else ())
        if problem:
            raise WrongRequestError(problem)
        found = dict(pairs) if self._in_query else _object(body)
        # All values of a query string are texts; those of JSON have their types.
        return validate(self._parameters, found, is_strict=not self._in_query)

    def _response(self, values: Mapping[str, Value]) -> Response:
        try:
            return self._respond(values)
        except VaultIndexerError as error:
            return error_response(error)
        except Exception:  # noqa: BLE001 - logged, and reported to the caller
            _LOG.exception("a request failed")
            return internal_error()


def _with_etag(response: Response, known: Sequence[str]) -> Response:
    """The response with the hash of its body as ETag, or 304 without a body if the client has it."""
    from starlette.responses import Response

    etag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    # A weak comparison, as RFC 9110 requires for If-None-Match.
    tags = {tag.strip().removeprefix("W/") for line in known for tag in line.split(",")}
    if tags & {etag, "*"}:
        return Response(status_code=304, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return response


def _object(body: bytes) -> Mapping[str, object]:
    from pydantic_core import from_json

    if not body:
        raise WrongRequestError("the body is missing: send a JSON object")
    try:
        given = from_json(body)
    except ValueError as error:
        raise WrongRequestError(f"body: Invalid JSON: {error}") from None
    if not isinstance(given, dict):
        raise WrongRequestError("body: Input should be an object")
    return given


async def _body(receive: Receive) -> bytes:
    message = await receive()
    return cast("bytes", message.get("body", b""))
