"""How a gateway identifies users other than by its own tokens, and where it logs them."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from vault_indexer.config.fields import Allowed, Table, Unit

HeaderName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9-]{1,100}$"),
    Allowed("the name of a header: letters, digits and -"),
]
ClaimName = Annotated[str, Field(min_length=1, max_length=200), Allowed("the name of a claim")]
FileName = Annotated[str, Field(max_length=4096), Allowed("the path of a file")]
KeysUrl = Annotated[
    str,
    Field(
        pattern=r"^(https://[^\s/@]+/[^\s@#]*|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/[^\s@#]*)$"
    ),
    Allowed("a URL with https, such as https://id.example.org/keys; with http on loopback only"),
]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Those with a public key alone: with a shared secret, a party that can check a token can make one."""


_NETWORK = "an address, or a network such as 10.1.2.0/24; not every address"


def _network(value: str) -> str:
    try:
        is_every = ipaddress.ip_network(value).prefixlen == 0
    except ValueError as error:
        raise ValueError(_NETWORK) from error
    if is_every:
        raise ValueError(_NETWORK)
    return value


Network = Annotated[
    str,
    AfterValidator(_network),
    Allowed(_NETWORK),
]


class GatewayOidc(Table):
    """A provider of OpenID Connect whose tokens say who asks."""

    issuer: Annotated[
        str, Field(min_length=1, max_length=2000), Allowed("the issuer, as its tokens name it")
    ] = Field(description="claim iss of its tokens, to the letter")
    audience: Annotated[str, Field(min_length=1, max_length=2000), Allowed("the name of the gateway")] = (
        Field(description="what the claim aud has to hold: how the provider calls this gateway")
    )
    jwks_url: KeysUrl = Field(description="where its public keys are; keys come from nowhere else")
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = Field(
        default=("RS256",), description="signatures that are accepted"
    )
    user_claim: ClaimName = Field(
        default="sub", description="claim that names the user; one that users cannot choose themselves"
    )
    groups_claim: ClaimName = Field(default="groups", description="claim with the groups of the user, a list")
    leeway_s: Annotated[float, Field(ge=0, le=300), Unit("seconds")] = Field(
        default=30.0, description="by so much the clock of the provider may differ"
    )
    keys_s: Annotated[float, Field(ge=10, le=86_400), Unit("seconds")] = Field(
        default=300.0, description="how long its keys are good before they are fetched again"
    )
    ca_file: FileName = Field(
        default="",
        description="certificates (PEM) that its server is checked with, if not those of the system",
    )


class GatewayProxy(Table):
    """A reverse proxy that has checked who asks, and says so in headers."""

    user_header: HeaderName = Field(description="header that names the user")
    groups_header: HeaderName | None = Field(
        default=None, description="header with the groups of the user, with commas between them"
    )
    addresses: tuple[Network, ...] = Field(
        default=(),
        description="addresses whose headers count; none are needed if the gateway listens on server.socket",
    )


class GatewayGroup(Table):
    """What all users of a group may read."""

    name: Annotated[str, Field(min_length=1, max_length=200), Allowed("a name of 1 to 200 characters")] = (
        Field(description="as the provider or the proxy names it")
    )
    vaults: tuple[
        Annotated[
            str,
            Field(pattern=r"^(\*|[a-z0-9-]{1,60}-[0-9a-f]{16})$"),
            Allowed('the id of a vault, as `indexer gateway grant` writes it, or "*"'),
        ],
        ...,
    ] = Field(default=(), description='ids of the vaults that they may read; "*" for all')
    metrics: bool = Field(default=False, description="whether they may read /metrics")


class GatewayAudit(Table):
    """Who asked for what: a line of JSON for each request."""

    file: FileName = Field(default="", description='"-" is standard output; without it nothing is written')
    queries: bool = Field(default=False, description="whether the lines hold what was searched for")
