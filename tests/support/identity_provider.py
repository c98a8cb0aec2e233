"""A provider of OpenID Connect on a port of this machine: it signs tokens and shows its public keys."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from http_servers import serving
from jwt.algorithms import RSAAlgorithm

ISSUER = "https://id.example.org/realms/team"
AUDIENCE = "vault-indexer"


def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@dataclass
class IdentityProvider:
    """`keys` are those that it shows, by id. `status` is what it answers with; `location` redirects.
    `content` is sent instead of its keys; an answer that trickles has 20 bytes a second, without end."""

    keys: dict[str, rsa.RSAPrivateKey]
    server: ThreadingHTTPServer = field(init=False)
    fetches: int = 0
    status: int = 200
    location: str = ""
    content: bytes = b""
    trickles: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/keys"

    @property
    def toml(self) -> str:
        return f'[oidc]\nissuer = "{ISSUER}"\naudience = "{AUDIENCE}"\njwks_url = "{self.url}"\n'

    def document(self) -> bytes:
        shown = [
            {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, "use": "sig"}
            for name, key in self.keys.items()
        ]
        return json.dumps({"keys": shown}).encode()

    def token(
        self, name: str = "ana", *, kid: str = "", key: rsa.RSAPrivateKey | None = None, **claims: Any
    ) -> str:
        """A token that is good for an hour; None as a claim leaves it out."""
        kid = kid or next(iter(self.keys))
        now = int(time.time())
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": name, "iat": now, "exp": now + 3600, **claims}
        payload = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(payload, key or self.keys[kid], "RS256", headers={"kid": kid})


@contextmanager
def identity_provider(keys: dict[str, rsa.RSAPrivateKey]) -> Iterator[IdentityProvider]:
    provider = IdentityProvider(keys)

    def respond(request: BaseHTTPRequestHandler) -> None:
        provider.fetches += 1
        body = provider.content or provider.document()
        request.send_response(provider.status)
        if provider.location:
            request.send_header("Location", provider.location)
        request.send_header("Content-Length", str(1 << 20 if provider.trickles else len(body)))
        request.end_headers()
        with suppress(ConnectionError):  # the client has had enough
            while provider.trickles and not ended.wait(0.05):
                request.wfile.write(b" ")
            request.wfile.write(body)

    ended = Event()
    with serving(respond) as provider.server:
        try:
            yield provider
        finally:
            ended.set()
