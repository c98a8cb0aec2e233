"""Determines the identity of each requester before all other decisions about the request."""

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
from vault_indexer.system import record

_NO_KEYS = Refusal(
    503,
    "identity",
    "the user cannot be verified: the keys of the token's provider are unavailable; try again",
    (("retry-after", "5"),),
)


class TrustedProxy:
    """A proxy that has authenticated the requester. Its headers are trusted if the connection comes from one
    of its addresses, or through the Unix socket, if the gateway listens on one."""

    def __init__(self, settings: GatewayProxy, *, by_socket: bool) -> None:
        self._user = settings.user_header.lower()
        self._groups = (settings.groups_header or "").lower()
        self._networks = [ipaddress.ip_network(address) for address in settings.addresses]
        self._by_socket = by_socket

    def identity(self, client: Sequence[object] | None, headers: Headers) -> Identity | None:
        """The user that the proxy names. A repeated header names no user, because one of the two may come
        from the client."""
        if not self.is_trusted(client):
            return None
        names, groups = _in_utf8(headers.get(self._user, ())), _in_utf8(headers.get(self._groups, ()))
        if len(names) != 1 or len(groups) > 1 or not is_name(names[0]):
            return None
        given = [one.strip() for one in groups[0].split(",")] if groups else []
        return Identity("proxy", names[0], tuple(one for one in given if is_name(one)))

    def is_trusted(self, client: Sequence[object] | None) -> bool:
        if self._by_socket:
            return True
        try:
            address = ipaddress.ip_address(str(client[0])) if client else None
        except ValueError:
            return False
        # A socket for both protocols shows an IPv4 client as `::ffff:10.1.2.3`.
        mapped = getattr(address, "ipv4_mapped", None)
        return address is not None and any((mapped or address) in network for network in self._networks)


def _in_utf8(values: Sequence[str]) -> list[str]:
    """The values of a header. Other bytes become surrogates, which no name has: in two encodings, names could
    be confused."""
    return [value.encode("latin-1").decode("utf-8", "surrogateescape") for value in values]


@record
class Identified:
    """ASGI middleware before everything that depends on the user: adds the identity to the request's record.
    The guard refuses requests without one."""

    app: App
    users: CurrentUsers
    oidc: OidcTokens | None
    proxy: TrustedProxy | None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            REQUEST.get().identity = await self._identity(scope)
        except TokenRefusedError as error:
            REQUEST.get().reason = error.reason
        except KeysUnavailableError:
            await refuse(send, _NO_KEYS)
            return
        await self.app(scope, receive, send)

    async def _identity(self, scope: Message) -> Identity | None:
        headers = headers_by_name(scope["headers"])
        if self.proxy is not None:
            named = self.proxy.identity(scope.get("client"), headers)
            if named is not None:
                return named
        token = token_of(headers)
        user = self.users.current.by_token(token)
        if user is not None:
            return Identity("token", user.name, token=token)
        # A JSON Web Token has three parts. Other tokens are not checked with the provider's keys.
        if self.oidc is not None and token.count(".") == 2:
            return await self.oidc.identity(token)
        return None
