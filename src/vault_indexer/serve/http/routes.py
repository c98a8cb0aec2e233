"""The routes of the table of endpoints: a request's parameters are checked, its answer is made in a thread.

The framework answers all other paths. It does not answer these: for a small answer, what it does between a
request and its function took half of the time, the search aside.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from vault_indexer.contract.parameters import Value, WrongRequestError, own_name, validate
from vault_indexer.errors import VaultIndexerError
from vault_indexer.serve.api.endpoints import Endpoint
from vault_indexer.serve.http.guard import App, Message, Receive, Send
from vault_indexer.serve.http.parameters import Route, problem_of_query, query_pairs
from vault_indexer.serve.http.responses import error_response, internal_error, wrong_request

if TYPE_CHECKING:
    from starlette.responses import Response

_LOG = logging.getLogger(__name__)

Respond = Callable[[Mapping[str, Value]], "Response"]
"""The response to a request, from the values of its parameters. Raises VaultIndexerError."""


class EndpointRoutes:
    """ASGI application: answers the requests to endpoints, by method and path; hands the others on."""

    def __init__(self, routes: Mapping[Route, App], rest: App) -> None:
        self._routes = routes
        self._rest = rest

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request."""
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        await (route or self._rest)(scope, receive, send)


class EndpointRoute:
    """ASGI application of one endpoint.

    It answers 422 for parameters that the endpoint does not take, and otherwise runs `respond` in one of the
    threads that answer. An error of ours has its status, any other is logged and answered with 500.
    """

    def __init__(self, endpoint: Endpoint[Any], respond: Respond) -> None:
        from starlette.concurrency import run_in_threadpool

        self._path = endpoint.path
        self._names = tuple(one.name for one in endpoint.parameters)
        self._in_query = endpoint.method == "GET"
        self._parameters = endpoint.parameters
        self._respond = respond
        self._in_thread = run_in_threadpool

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request."""
        try:
            values = self._values(scope["query_string"], b"" if self._in_query else await _body(receive))
        except WrongRequestError as wrong:
            response: Response = wrong_request(str(wrong))
        else:
            response = await self._in_thread(self._response, values)
        await response(cast("Any", scope), cast("Any", receive), cast("Any", send))

    def _values(self, query: bytes, body: bytes) -> Mapping[str, Value]:
        given = query_pairs(query) if query else []
        pairs = [(own_name(name, self._names), value) for name, value in given]
        problem = problem_of_query(self._path, pairs, self._names if self._in_query else ())
        if problem:
            raise WrongRequestError(problem)
        found = dict(pairs) if self._in_query else _object(body)
        return validate(self._parameters, found, is_strict=not self._in_query)

    def _response(self, values: Mapping[str, Value]) -> Response:
        try:
            return self._respond(values)
        except VaultIndexerError as error:
            return error_response(error)
        except Exception:  # noqa: BLE001 - logged, and reported to the caller
            _LOG.exception("a request failed")
            return internal_error()


def _object(body: bytes) -> Mapping[str, object]:
    """The JSON object of a body."""
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
    """The body. The guard has read it, within its bounds."""
    message = await receive()
    return cast("bytes", message.get("body", b""))
