"""Selects the vault of a request: `/vault/NAME/v1/...`, or the parameter `vault` of its query.

Both are removed from the request, so that the inner routes are those of one vault. The name is in
`CHOSEN_VAULT` while the request is answered, including in the answering threads.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from urllib.parse import unquote_plus

from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import VAULT
from vault_indexer.serve.http.guard import App, Message, Receive, Refusal, Send, refuse
from vault_indexer.vaults import Vaults

CHOSEN_VAULT: ContextVar[str] = ContextVar("chosen_vault", default="")
"""The name of the vault in the request; "" if it names none."""

IN_PATH = "vault_in_path"
"""The key in the ASGI scope for the vault name from the address."""

_PREFIX = "/vault/"


def vault_url(url: str, name: str) -> str:
    """The address under which one vault of a daemon answers as if it were the only one."""
    return f"{url}{_PREFIX}{name}"


def without_prefix(app: App) -> App:
    """Wraps the whole application and removes `/vault/NAME` from the path before the guard checks it."""

    async def shorten(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_PREFIX):
            name, slash, rest = scope["path"].removeprefix(_PREFIX).partition("/")
            if slash:
                scope = {**scope, "path": f"/{rest}", IN_PATH: name}
        await app(scope, receive, send)

    return shorten


class VaultChoice:
    """Selects the vault of a request behind the guard, and rejects an unknown vault.

    On `public` paths every name is accepted, so that requests without a token do not reveal the names of
    vaults.
    """

    def __init__(self, app: App, vaults: Vaults, public: Collection[str] = ()) -> None:
        self._app = app
        self._vaults = vaults
        self._public = public

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            in_query, rest = _taken(scope["query_string"])
            named = [*in_query, *([scope[IN_PATH]] if IN_PATH in scope else [])]
            problem = "" if scope["path"] in self._public else self._problem(named)
            if problem:
                await refuse(send, Refusal(422, "request", problem))
                return
            scope = {**scope, "query_string": rest}
            CHOSEN_VAULT.set(named[0] if named else "")
        await self._app(scope, receive, send)

    def _problem(self, named: list[str]) -> str:
        if len(named) > 1:
            return f"the parameter {VAULT.name!r} is given {len(named)} times, but must be given once"
        try:
            self._vaults.holders(*named)
        except UsageError as error:
            return str(error)
        return ""


def _taken(query: bytes) -> tuple[list[str], bytes]:
    """The values of the parameter `vault`, and the query without it."""
    if not query:
        return [], query
    named, kept = [], []
    for part in query.split(b"&"):
        name, _, value = part.decode("latin-1").partition("=")
        if unquote_plus(name) == VAULT.name:
            named.append(unquote_plus(value))
        else:
            kept.append(part)
    return named, b"&".join(kept)
