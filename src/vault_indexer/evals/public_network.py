"""Requests to public addresses only: a vault's URLs may name services of this machine or its network."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any

_UNICAST = ipaddress.IPv6Network("2000::/3")
_IPV4_IN_IPV6 = (ipaddress.IPv6Network("2001::/32"), ipaddress.IPv6Network("2002::/16"))
"""Teredo and 6to4: each leads to an IPv4 address that it holds."""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not loopback, private, link-local, shared,
    multicast, reserved, nor an IPv4 address within an IPv6 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global and not (found.is_multicast or found.is_reserved)
    return found.is_global and found in _UNICAST and not any(found in network for network in _IPV4_IN_IPV6)


@dataclass(frozen=True, slots=True)
class Network:
    """How pages are reached: what resolves names, and which addresses may be asked.

    No proxy is used, whatever the environment says: it would resolve the names itself.
    """

    resolve: Callable[..., list[Any]] = socket.getaddrinfo
    accepts: Callable[[str], bool] = is_public

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """A connection to an address of the host. The name is resolved once, and what was checked is what is
        connected to. Raises OSError where an address is not accepted, or none answers."""
        addresses = [found[4][0] for found in self.resolve(host, port, type=socket.SOCK_STREAM)]
        for address in addresses:
            if not self.accepts(address):
                raise OSError(f"{host} has the address {address}; only public addresses are fetched from")
        for address in addresses[:-1]:
            try:
                return socket.create_connection((address, port), timeout)
            except OSError:
                continue
        return socket.create_connection((addresses[-1], port), timeout)

    def open(self, request: urllib.request.Request, timeout: float) -> HTTPResponse:
        """The response over HTTP or HTTPS; each redirect is checked as the first address is. Raises OSError,
        of which urllib's errors are."""
        opener = urllib.request.OpenerDirector()
        for handler in (
            _HttpHandler(self),
            _HttpsHandler(self),
            urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            urllib.request.UnknownHandler(),
        ):
            opener.add_handler(handler)
        response = opener.open(request, timeout=timeout)
        assert isinstance(response, HTTPResponse)
        return response


class _Connection(HTTPConnection):
    def __init__(self, host: str, *, network: Network, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._network, self._seconds = network, timeout

    def connect(self) -> None:
        """As the network connects."""
        self.sock = self._network.connect(self.host, self.port, self._seconds)


class _SecureConnection(HTTPSConnection):
    def __init__(self, host: str, *, network: Network, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._network, self._seconds, self._tls = network, timeout, ssl.create_default_context()

    def connect(self) -> None:
        """As the network connects; the certificate must be that of the host."""
        plain = self._network.connect(self.host, self.port, self._seconds)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)


class _HttpHandler(urllib.request.HTTPHandler):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Open with a connection of the network."""
        return self.do_open(_Connection, req, network=self._network)  # type: ignore[arg-type] # `network` is ours


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """Open with a connection of the network."""
        return self.do_open(_SecureConnection, req, network=self._network)  # type: ignore[arg-type] # `network` is ours
