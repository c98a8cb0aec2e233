"""Says of each request who asks, before anything else is decided about it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from vault_gateway.access import CurrentUsers, Identity
from vault_gateway.oidc import KeysUnavailableError, OidcTokens, TokenRefusedError, is_name
from vault_gateway.requests import REQUEST
from vault_gateway.settings import GatewayProxy
from vault_indexer.serve.http.guard import (
    App,
    Headers,
    Message,
    Receive,
    Refusal,
    Send,
    headers_by_name,
    refuse,
    token_of,
)

_NO_KEYS = Refusal(
    503,
    "identity",
    "who asks cannot be checked: the provider of the token does not give its keys; try again",
    (("retry-after", "5"),),
)


class TrustedProxy:
    """A proxy that has checked who asks. Its headers count if the connection comes from one of its addresses,
    or by the Unix socket, if that is what the gateway listens on."""

    def __init__(self, settings: GatewayProxy, *, by_socket: bool) -> None:
        self._user = settings.user_header.lower()
        self._groups = (settings.groups_header or "").lower()
        self._networks = [ipaddress.ip_network(one) for one in settings.addresses]
        self._by_socket = by_socket

    def identity(self, client: Sequence[object] | None, headers: Headers) -> Identity | None:
        """Whom the proxy names. A header that stands twice names nobody: one of both may be the user's."""
        if not self._is_trusted(client):
            return None
        names, groups = headers.get(self._user, ()), headers.get(self._groups, ())
        if len(names) != 1 or len(groups) > 1 or not is_name(names[0]):
            return None
        given = [one.strip() for one in groups[0].split(",")] if groups else []
        return Identity("proxy", names[0], tuple(one for one in given if is_name(one)))

    def _is_trusted(self, client: Sequence[object] | None) -> bool:
        if self._by_socket:
            return True
        try:
            address = ipaddress.ip_address(str(client[0])) if client else None
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return address is not None and any((mapped or address) in one for one in self._networks)


class Identified:
    """ASGI middleware before all that depends on the user: puts into the request's record who asks. Whoever
    is nobody is left to the guard."""

    def __init__(
        self, app: App, users: CurrentUsers, oidc: OidcTokens | None, proxy: TrustedProxy | None
    ) -> None:
        self._app = app
        self._users = users
        self._oidc = oidc
        self._proxy = proxy

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request on, or answer 503 where that cannot be known."""
        if scope["type"] == "http":
            try:
                REQUEST.get().identity = await self._identity(scope)
            except TokenRefusedError as error:
                REQUEST.get().reason = error.reason
            except KeysUnavailableError:
                await refuse(send, _NO_KEYS)
                return
        await self._app(scope, receive, send)

    async def _identity(self, scope: Message) -> Identity | None:
        headers = headers_by_name(scope["headers"])
        if self._proxy is not None:
            named = self._proxy.identity(scope.get("client"), headers)
            if named is not None:
                return named
        token = token_of(headers)
        user = self._users.by_token(token)
        if user is not None:
            return Identity("token", user.name, token=token)
        if self._oidc is not None and token.count(".") == 2:
            return await self._oidc.identity(token)
        return None
