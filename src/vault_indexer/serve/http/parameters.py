"""Refuses query parameters that a route does not have: ignoring one would mislead the sender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse

Route = tuple[str, str]
"""Method and path."""

_NAME_CHARS = 60


class ParameterCheck:
    """ASGI middleware behind the guard. `allowed` names the parameters of each route.

    A path or method that `allowed` does not have is left to the application, which answers 404 or 405.
    """

    def __init__(self, app: App, allowed: Mapping[Route, Sequence[str]]) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer 422 for an unknown or repeated parameter, else hand the request on."""
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
    """What is wrong with the parameters of a query string: one that the route does not have, or one twice."""
    given = Counter(name for name, _ in pairs)
    for name, count in given.items():
        shown = repr(name[:_NAME_CHARS])
        if name not in allowed:
            return f"unknown parameter {shown}: {path} takes {', '.join(allowed) or 'no parameters'}"
        if count > 1:
            return f"the parameter {shown} is given {count} times: give it once"
    return None


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    """The names and values of a query string, decoded; a value may be empty."""
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True)
