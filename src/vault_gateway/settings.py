"""The configuration of a gateway: one TOML file of its own, read once, all mistakes reported together."""

from __future__ import annotations

from vault_indexer.config.settings import Origin  # first: it imports the module `tables`

# isort: split

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import tomli
from pydantic import AfterValidator, Field, ValidationError

from vault_gateway.tables import MilvusAccess, Prefix, ServerUrl
from vault_indexer.config.fields import Allowed, Table, Unit, VariableName
from vault_indexer.config.values import ValueLocation, printable, problem_within, with_tuples
from vault_indexer.errors import ConfigError, ConfigProblem

# Identification of users other than by the gateway's own tokens, and the audit log.


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
"""Only algorithms with a public key: with a shared secret, a party that can verify a token can also create
one."""


_NETWORK = "an address, or a network such as 10.1.2.0/24; not every address"


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value)
    except ValueError as error:
        raise ValueError(_NETWORK) from error
    return value


def _networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """The networks, unless together they have every address of IPv4 or of IPv6."""
    given = [ipaddress.ip_network(value) for value in values]
    v4 = ipaddress.collapse_addresses(one for one in given if isinstance(one, ipaddress.IPv4Network))
    v6 = ipaddress.collapse_addresses(one for one in given if isinstance(one, ipaddress.IPv6Network))
    if any(one.prefixlen == 0 for one in v4) or any(one.prefixlen == 0 for one in v6):
        raise ValueError(_NETWORK)
    return values


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
    addresses: Annotated[tuple[Network, ...], AfterValidator(_networks), Allowed(_NETWORK)] = Field(
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


EVERY_VAULT = "*"

MAX_GATEWAY_BYTES = 64 << 20
"""The maximum size of a configuration: 5,000 users with ten rights each take 4 MB."""

Name = Annotated[str, Field(min_length=1, max_length=200), Allowed("a name of 1 to 200 characters")]
VAULT_ID = re.compile(r"[a-z0-9-]{1,60}-[0-9a-f]{16}")
VaultId = Annotated[
    str,
    Field(pattern=rf"^{VAULT_ID.pattern}$"),
    Allowed("the id of a vault, as `indexer gateway vaults` lists it"),
]
Right = Annotated[
    str,
    Field(pattern=r"^(\*|[a-z0-9-]{1,60}-[0-9a-f]{16})$"),
    Allowed(
        'the id of a vault, as `indexer gateway grant` writes it, or "*"; a name gives no right, since '
        "another vault may have it tomorrow"
    ),
]
HostName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"),
    Allowed("a host name or address, with its port if the header Host has one"),
]
Address = Annotated[
    str,
    Field(pattern=r"^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$"),
    Allowed("an address of this machine, such as 127.0.0.1 or ::1"),
]
GivenUrl = Annotated[ServerUrl, Field(min_length=1), Allowed("a URL such as http://127.0.0.1:19530")]


class GatewayMilvus(MilvusAccess):
    """The server that is searched. All keys but the last two are those of the daemons that publish to it."""

    uri: GivenUrl = Field(description="address of the server")
    collection_prefix: Prefix = Field(default="vault_indexer", description="as the daemons have it")
    consistency: Literal["session", "bounded"] = Field(
        default="bounded", description="how new an answer of the server has to be"
    )
    timeout_s: Annotated[float, Field(gt=0, le=60), Unit("seconds")] = Field(
        default=5.0, description="a call to the server that takes longer has failed: status 503"
    )


class GatewayServer(Table):
    """Where the gateway listens, and for whom."""

    host: Address = Field(
        default="127.0.0.1", description="address that it listens on. It speaks HTTP without TLS"
    )
    port: Annotated[int, Field(ge=0, le=65_535), Unit("TCP port")] = Field(
        default=7610, description="0 lets the system choose"
    )
    socket: FileName = Field(
        default="",
        description="path of a Unix socket that it listens on instead: for a proxy on the same machine",
    )
    allowed_hosts: tuple[HostName, ...] = Field(
        default=(),
        description="values of the header Host that are answered, beside the names of loopback: the name by "
        "which users know the gateway",
    )
    allowed_origins: tuple[Origin, ...] = Field(
        default=(), description="browser origins that may call the API; all others get status 403"
    )
    max_concurrent: Annotated[int, Field(ge=1, le=1024), Unit("requests")] = Field(
        default=32,
        description="requests answered at the same time; further ones wait, and get status 503 after ten "
        "seconds",
    )
    user_concurrent: Annotated[int, Field(ge=1, le=1024), Unit("requests")] = Field(
        default=2,
        description="requests that one user may have under way; one is worked on at a time, and further ones "
        "get status 429",
    )
    user_rate: Annotated[float, Field(gt=0, le=10_000), Unit("requests a second")] = Field(
        default=5.0, description="what one user may ask in the long run; beyond that, status 429"
    )
    user_burst: Annotated[int, Field(ge=1, le=10_000), Unit("requests")] = Field(
        default=20, description="requests that one user may send in a moment, after a rest"
    )
    timeout_s: Annotated[float, Field(gt=0, le=600), Unit("seconds")] = Field(
        default=20.0, description="time after which a request is cancelled"
    )
    drain_s: Annotated[float, Field(ge=0, le=600), Unit("seconds")] = Field(
        default=20.0,
        description="after SIGTERM requests are answered for so long at most: until none is under way and "
        "none has come for a second",
    )


class GatewayKeeper(Table):
    """A daemon that keeps vaults, to be asked for bodies."""

    name: Name = Field(description="its milvus.keeper")
    url: GivenUrl = Field(description="where it answers")
    token_env: Annotated[VariableName, Field(min_length=1)] = Field(
        description="environment variable that holds its token (its server.token_env)"
    )


Sha256 = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{64}$"),
    Allowed("the SHA-256 of the token in 64 small hexadecimal digits, as `indexer gateway token` prints it"),
]


class GatewayToken(Table):
    """One of the tokens of a user: a new one is given out before the old one ends."""

    name: Name = Field(description="tells the tokens of the user apart; no secret")
    token_sha256: Sha256 = Field(description="of the token")
    expires: Annotated[date | None, Allowed("a date such as 2026-12-31")] = Field(
        default=None, description="the last day, in UTC, on which it is accepted; none: it does not end"
    )


class GatewayUser(Table):
    """Who may ask, and what of. One without a token is known by [oidc] or [proxy] alone, and one with a token
    by that alone: so nobody becomes another user by choosing a name at the provider."""

    name: Name = Field(description="for logs of the operator, or as the provider or the proxy names the user")
    token_sha256: Sha256 | None = Field(
        default=None, description="of the token; the token itself is nowhere but with the user"
    )
    tokens: Annotated[
        tuple[GatewayToken, ...],
        Field(max_length=2),
        Allowed("at most two tables of name, token_sha256, expires"),
    ] = Field(
        default=(), description="instead of token_sha256: one token, or two while one replaces the other"
    )
    vaults: tuple[Right, ...] = Field(
        default=(), description='ids of the vaults that the user may read; "*" for all'
    )
    groups: tuple[Name, ...] = Field(
        default=(), description="groups that the user belongs to, beside those that the provider names"
    )
    metrics: bool = Field(default=False, description="whether the user may read /metrics")

    @property
    def digests(self) -> tuple[tuple[str, date | None], ...]:
        """The SHA-256 of each token, and its last day."""
        own = ((self.token_sha256, None),) if self.token_sha256 else ()
        return (*own, *((token.token_sha256, token.expires) for token in self.tokens))


class GatewaySettings(Table):
    """A whole file. docs/gateway.md has its keys as a table."""

    milvus: GatewayMilvus
    server: GatewayServer = GatewayServer()
    users: tuple[GatewayUser, ...] = Field(default=(), description="at least one, or a group")
    groups: tuple[GatewayGroup, ...] = Field(default=(), description="what the users of a group may read")
    oidc: GatewayOidc | None = Field(default=None, description="tokens of a provider of OpenID Connect")
    proxy: GatewayProxy | None = Field(default=None, description="a proxy that says who asks")
    audit: GatewayAudit = GatewayAudit()
    withdrawn: tuple[VaultId, ...] = Field(
        default=(),
        description="ids of vaults that nobody finds, whatever the server says: `indexer gateway unpublish` "
        "writes them",
    )
    bodies: Literal["milvus", "keepers"] = Field(
        default="milvus", description="where the text of a hit is from"
    )
    keepers: tuple[GatewayKeeper, ...] = Field(default=(), description='with bodies = "keepers"')
    keeper_timeout_s: Annotated[float, Field(gt=0, le=60), Unit("seconds")] = Field(
        default=2.0, description="how long an answer waits for all keepers together"
    )
    max_filtered_chunks: Annotated[int, Field(ge=1), Unit("parts of notes")] = Field(
        default=2_000_000,
        description="a search with a folder or a tag looks at each part of each note: over vaults with more "
        "parts it is refused",
    )
    states_s: Annotated[float, Field(ge=0, le=60), Unit("seconds")] = Field(
        default=2.0, description="how long the list of published vaults is good"
    )
    rights_grace_s: Annotated[float, Field(ge=0, le=86_400), Unit("seconds")] = Field(
        default=300.0,
        description="for so long the former rights hold while the file cannot be used; then nobody is "
        "answered",
    )
    stale_after_s: Annotated[float, Field(ge=120, le=31_536_000), Unit("seconds")] = Field(
        default=600.0,
        description="a vault whose keeper has not been seen for longer is called stale; keepers say once a "
        "minute that they are there",
    )
    snippet_chars: Annotated[int, Field(ge=40, le=4000), Unit("characters")] = Field(
        default=240, description="length of the text shown around the match"
    )
    max_chunks_per_note: Annotated[int, Field(ge=1, le=200), Unit("hits")] = Field(
        default=3, description="largest number of hits from one note"
    )


def load_gateway(path: Path) -> GatewaySettings:
    """The configuration in the file. Raises ConfigError with every mistake."""
    origin = f"file {printable(str(path), 4096)}"
    return gateway_settings(_table(path, origin), origin)


def gateway_settings(table: object, origin: str) -> GatewaySettings:
    """The configuration in a table of TOML. Raises ConfigError with every mistake, each with `origin`."""
    try:
        settings = GatewaySettings.model_validate(with_tuples(table), strict=True)
    except ValidationError as error:
        whole = ValueLocation("", GatewaySettings, [], table)
        raise ConfigError(
            [problem_within(whole, details, origin) for details in error.errors(include_url=False)]
        ) from error
    problems = [ConfigProblem(key, "", allowed, origin) for key, allowed in _disagreements(settings)]
    if problems:
        raise ConfigError(problems)
    return settings


def _table(path: Path, origin: str) -> object:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_GATEWAY_BYTES + 1)
        if len(content) > MAX_GATEWAY_BYTES:
            raise ConfigError(
                [ConfigProblem("file", "", f"is larger than {MAX_GATEWAY_BYTES} bytes", origin)]
            )
        return tomli.loads(content.decode("utf-8-sig"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start})"
    except (ValueError, RecursionError) as error:
        reason = f"is not valid TOML: {error}"
    raise ConfigError([ConfigProblem("file", "", reason, origin)])


def _disagreements(settings: GatewaySettings) -> Iterator[tuple[str, str]]:
    yield from _identity_disagreements(settings)
    yield from _repeated("users.name", [user.name for user in settings.users])
    yield from _repeated("groups.name", [group.name for group in settings.groups])
    yield from _repeated(
        "users.token_sha256", [digest for user in settings.users for digest, _ in user.digests]
    )
    yield from _repeated("keepers.name", [keeper.name for keeper in settings.keepers])
    if settings.bodies == "keepers" and not settings.keepers:
        yield "keepers", 'at least one [[keepers]], since bodies is "keepers"'
    yield from settings.milvus.disagreements(settings.milvus.uri)
    if settings.milvus.timeout_s >= settings.server.timeout_s:
        yield "milvus.timeout_s", f"below server.timeout_s ({settings.server.timeout_s:g})"


def _identity_disagreements(settings: GatewaySettings) -> Iterator[tuple[str, str]]:
    if not settings.users and not settings.groups:
        yield "users", "at least one [[users]] or [[groups]]"
    has_provider = settings.oidc is not None or settings.proxy is not None
    groups = {group.name for group in settings.groups}
    for user in settings.users:
        if bool(user.token_sha256) and bool(user.tokens):
            yield "users", f"token_sha256 or tokens, one of both: {printable(user.name)}"
        elif not user.digests and not has_provider:
            needed = "token_sha256 or tokens, one of both, since there is no [oidc] and no [proxy]"
            yield "users", f"{needed}: {printable(user.name)}"
        for unknown in sorted(set(user.groups) - groups):
            yield "users.groups", f"names of [[groups]]; there is none called {printable(unknown)}"
    proxy = settings.proxy
    if proxy is not None and not proxy.addresses and not settings.server.socket:
        yield "proxy.addresses", "at least one, or server.socket: headers of anybody else mean nothing"


def _repeated(key: str, values: list[str]) -> Iterator[tuple[str, str]]:
    for value, count in Counter(values).items():
        if count > 1:
            shown = f"{value[:8]}…" if key.endswith("sha256") else printable(value)
            yield key, f"each one once: {shown} stands {count} times"
