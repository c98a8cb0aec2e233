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


Name = Annotated[str, Field(min_length=1, max_length=200), Allowed("a name of 1 to 200 characters")]
HeaderName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$"), Allowed("a header name: letters, digits and -")
]
ClaimName = Annotated[str, Field(min_length=1, max_length=200), Allowed("a claim name")]
FileName = Annotated[str, Field(max_length=4096), Allowed("a file path")]
KeysUrl = Annotated[
    str,
    Field(
        pattern=r"^(https://[^\s/@]+/[^\s@#]*|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/[^\s@#]*)$"
    ),
    Allowed("an https URL such as https://id.example.org/keys; http is allowed on loopback only"),
]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Only algorithms with a public key: with a shared secret, a party that can verify a token can also create
one."""


_NETWORK = "an address, or a network such as 10.1.2.0/24; not the whole address space"


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


Network = Annotated[str, AfterValidator(_network), Allowed(_NETWORK)]


class GatewayOidc(Table):
    """An OpenID Connect provider whose tokens identify users."""

    issuer: Annotated[
        str, Field(min_length=1, max_length=2000), Allowed("the issuer, exactly as in its tokens")
    ]
    """Value of the claim iss in its tokens, compared exactly."""
    audience: Annotated[
        str, Field(min_length=1, max_length=2000), Allowed("the gateway's name at the provider")
    ]
    """Required value of the claim aud: the provider's name for this gateway."""
    jwks_url: KeysUrl
    """URL of its public keys, the only source of keys."""
    algorithms: Annotated[tuple[Algorithm, ...], Field(min_length=1)] = ("RS256",)
    """Accepted signature algorithms."""
    user_claim: ClaimName = "sub"
    """Claim with the name of the user; users must not be able to choose its value."""
    groups_claim: ClaimName = "groups"
    """Claim with a list of the user's groups."""
    leeway_s: Annotated[float, Field(ge=0, le=300), Unit("seconds")] = 30.0
    """Allowed difference between the clocks of the provider and the gateway."""
    keys_s: Annotated[float, Field(ge=10, le=86_400), Unit("seconds")] = 300.0
    """Time after which its keys are fetched again."""
    ca_file: FileName = ""
    """File with the certificates (PEM) that verify its server, if not those of the system."""


class GatewayProxy(Table):
    """A reverse proxy that authenticates users and passes their names in headers."""

    user_header: HeaderName
    """Header with the name of the user."""
    groups_header: HeaderName | None = None
    """Header with the groups of the user, separated by commas."""
    addresses: Annotated[tuple[Network, ...], AfterValidator(_networks), Allowed(_NETWORK)] = ()
    """Addresses whose headers are trusted; not needed if the gateway listens on server.socket."""


class GatewayGroup(Table):
    """The rights of all users of a group."""

    name: Name
    """Its name at the provider or the proxy."""
    vaults: tuple[
        Annotated[
            str,
            Field(pattern=r"^(\*|[a-z0-9-]{1,60}-[0-9a-f]{16})$"),
            Allowed('the id of a vault, as `indexer gateway grant` writes it, or "*"'),
        ],
        ...,
    ] = ()
    """Ids of the vaults that its users may read; "*" means all."""
    metrics: bool = False
    """Whether its users may read /metrics."""


class GatewayAudit(Table):
    """The audit log: a line of JSON for each request."""

    file: FileName = ""
    """Path of the log; "-" means standard output, and empty means no log."""
    queries: bool = False
    """Whether the lines contain the queries."""


EVERY_VAULT = "*"

MAX_GATEWAY_BYTES = 64 << 20
"""The maximum size of a configuration: 5,000 users with ten rights each take 4 MB."""

VAULT_ID = re.compile(r"[a-z0-9-]{1,60}-[0-9a-f]{16}")
VaultId = Annotated[
    str, Field(pattern=rf"^{VAULT_ID.pattern}$"), Allowed("a vault id, as listed by `indexer gateway vaults`")
]
Right = Annotated[
    str,
    Field(pattern=r"^(\*|[a-z0-9-]{1,60}-[0-9a-f]{16})$"),
    Allowed(
        'a vault id, as written by `indexer gateway grant`, or "*"; a name is not accepted, because another '
        "vault may have it later"
    ),
]
HostName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"),
    Allowed("a host name or address, with the port if the header Host contains one"),
]
Address = Annotated[
    str,
    Field(pattern=r"^([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$"),
    Allowed("an address of this machine, such as 127.0.0.1 or ::1"),
]
GivenUrl = Annotated[ServerUrl, Field(min_length=1), Allowed("a URL such as http://127.0.0.1:19530")]


class GatewayMilvus(MilvusAccess):
    """The Milvus server to search. All keys but the last two are those of the daemons that publish to it."""

    uri: GivenUrl
    """Address of the server."""
    collection_prefix: Prefix = "vault_indexer"
    """Collection_prefix of the daemons."""
    consistency: Literal["session", "bounded"] = "bounded"
    """How up to date the server's answers must be."""
    timeout_s: Annotated[float, Field(gt=0, le=60), Unit("seconds")] = 5.0
    """Time limit of a call to the server; a slower call fails with status 503."""


class GatewayServer(Table):
    """The address of the gateway, and the limits of its requests."""

    host: Address = "127.0.0.1"
    """Address that it listens on, for HTTP without TLS."""
    port: Annotated[int, Field(ge=0, le=65_535), Unit("TCP port")] = 7610
    """0 lets the system choose."""
    socket: FileName = ""
    """Path of a Unix socket to listen on instead, for a proxy on the same machine."""
    allowed_hosts: tuple[HostName, ...] = ()
    """Accepted values of the header Host in addition to the loopback names: the public name of the
    gateway."""
    allowed_origins: tuple[Origin, ...] = ()
    """Browser origins that may call the API; all others get status 403."""
    max_concurrent: Annotated[int, Field(ge=1, le=1024), Unit("requests")] = 32
    """Maximum number of concurrent requests; more requests wait, and get status 503 after ten seconds."""
    user_concurrent: Annotated[int, Field(ge=1, le=1024), Unit("requests")] = 2
    """Maximum number of concurrent requests of one user, handled one at a time; more requests get status
    429."""
    user_rate: Annotated[float, Field(gt=0, le=10_000), Unit("requests a second")] = 5.0
    """Sustained rate of one user; requests beyond it get status 429."""
    user_burst: Annotated[int, Field(ge=1, le=10_000), Unit("requests")] = 20
    """Number of requests that one user may send at once after a pause."""
    timeout_s: Annotated[float, Field(gt=0, le=600), Unit("seconds")] = 20.0
    """Time after which a request is cancelled."""
    drain_s: Annotated[float, Field(ge=0, le=600), Unit("seconds")] = 20.0
    """Maximum time for which requests are answered after SIGTERM. The gateway exits earlier if none is in
    progress and none has arrived for a second."""


class GatewayKeeper(Table):
    """A daemon that provides the text of hits."""

    name: Name
    """Its milvus.keeper."""
    url: GivenUrl
    """Its address."""
    token_env: Annotated[VariableName, Field(min_length=1)]
    """Environment variable with its token (its server.token_env)."""


Sha256 = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{64}$"),
    Allowed(
        "the SHA-256 of the token in 64 lower-case hexadecimal digits, as printed by `indexer gateway token`"
    ),
]


class GatewayToken(Table):
    """One of a user's tokens: a user gets a new token before the old one expires."""

    name: Name
    """Distinguishes the tokens of the user; not secret."""
    token_sha256: Sha256
    """SHA-256 of the token."""
    expires: Annotated[date | None, Allowed("a date such as 2026-12-31")] = None
    """Last day (UTC) on which it is accepted; without it, the token does not expire."""


class GatewayUser(Table):
    """A user and the user's rights. A user without a token is identified only by [oidc] or [proxy], and a
    user with a token only by that token, so a name chosen at the provider never gives access to another
    user's rights."""

    name: Name
    """The user's name in logs, or at the provider or proxy."""
    token_sha256: Sha256 | None = None
    """SHA-256 of the token; only the user has the token itself."""
    tokens: Annotated[
        tuple[GatewayToken, ...],
        Field(max_length=2),
        Allowed("at most two tables with name, token_sha256, expires"),
    ] = ()
    """Used instead of token_sha256: one token, or two during a replacement."""
    vaults: tuple[Right, ...] = ()
    """Ids of the vaults that the user may read; "*" means all."""
    groups: tuple[Name, ...] = ()
    """Groups of the user, in addition to those from the provider."""
    metrics: bool = False
    """Whether the user may read /metrics."""

    @property
    def digests(self) -> tuple[tuple[str, date | None], ...]:
        """The SHA-256 of each token, and its last day."""
        own = ((self.token_sha256, None),) if self.token_sha256 else ()
        return (*own, *((token.token_sha256, token.expires) for token in self.tokens))


class GatewaySettings(Table):
    """The whole file. docs/gateway.md contains a table of its keys."""

    milvus: GatewayMilvus
    server: GatewayServer = GatewayServer()
    users: tuple[GatewayUser, ...] = ()
    """The users; at least one user or group is required."""
    groups: tuple[GatewayGroup, ...] = ()
    """The groups, with the rights of their users."""
    oidc: GatewayOidc | None = None
    """An OpenID Connect provider whose tokens are accepted."""
    proxy: GatewayProxy | None = None
    """A proxy that authenticates users."""
    audit: GatewayAudit = GatewayAudit()
    withdrawn: tuple[VaultId, ...] = ()
    """Ids of vaults that are hidden from all users, even if the server has them; written by `indexer gateway
    unpublish`."""
    bodies: Literal["milvus", "keepers"] = "milvus"
    """Source of the text of hits."""
    keepers: tuple[GatewayKeeper, ...] = ()
    """Required with bodies = "keepers"."""
    keeper_timeout_s: Annotated[float, Field(gt=0, le=60), Unit("seconds")] = 2.0
    """Maximum time that an answer waits for all keepers together."""
    max_filtered_chunks: Annotated[int, Field(ge=1), Unit("parts of notes")] = 2_000_000
    """Maximum size of the vaults for a search with a folder or a tag, which reads every part of every
    note."""
    states_s: Annotated[float, Field(ge=0, le=60), Unit("seconds")] = 2.0
    """Time for which the list of published vaults is cached."""
    rights_grace_s: Annotated[float, Field(ge=0, le=86_400), Unit("seconds")] = 300.0
    """Time for which the previous rights stay valid while the file has errors; after that, all requests are
    refused."""
    stale_after_s: Annotated[float, Field(ge=120, le=31_536_000), Unit("seconds")] = 600.0
    """A vault is stale if its keeper has not reported for longer; keepers report once a minute."""
    snippet_chars: Annotated[int, Field(ge=40, le=4000), Unit("characters")] = 240
    """Length of the text shown around the match."""
    max_chunks_per_note: Annotated[int, Field(ge=1, le=200), Unit("hits")] = 3
    """Largest number of hits from one note."""


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
        yield "keepers", 'at least one [[keepers]], because bodies is "keepers"'
    yield from settings.milvus.disagreements(settings.milvus.uri)
    if settings.milvus.timeout_s >= settings.server.timeout_s:
        yield "milvus.timeout_s", f"less than server.timeout_s ({settings.server.timeout_s:g})"


def _identity_disagreements(settings: GatewaySettings) -> Iterator[tuple[str, str]]:
    if not settings.users and not settings.groups:
        yield "users", "at least one [[users]] or [[groups]]"
    has_provider = settings.oidc is not None or settings.proxy is not None
    groups = {group.name for group in settings.groups}
    for user in settings.users:
        if bool(user.token_sha256) and bool(user.tokens):
            yield "users", f"either token_sha256 or tokens, not both: {printable(user.name)}"
        elif not user.digests and not has_provider:
            needed = "token_sha256 or tokens, because there is no [oidc] and no [proxy]"
            yield "users", f"{needed}: {printable(user.name)}"
        for unknown in sorted(set(user.groups) - groups):
            yield "users.groups", f"names from [[groups]]; no group is called {printable(unknown)}"
    proxy = settings.proxy
    if proxy is not None and not proxy.addresses and not settings.server.socket:
        reason = "headers from other addresses are not trusted"
        yield "proxy.addresses", f"at least one, unless server.socket is set: {reason}"


def _repeated(key: str, values: list[str]) -> Iterator[tuple[str, str]]:
    for value, count in Counter(values).items():
        if count > 1:
            shown = f"{value[:8]}…" if key.endswith("sha256") else printable(value)
            yield key, f"unique values; {shown} occurs {count} times"
