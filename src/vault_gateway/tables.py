"""The options of a Milvus server for the derived indices of many vaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from vault_indexer.config.fields import (
    Allowed,
    DisagreementError,
    ExtensionTable,
    Table,
    Tuned,
    Unit,
    VariableName,
)

if TYPE_CHECKING:
    from vault_indexer.config import Settings

ServerUrl = Annotated[
    str,
    Field(pattern=r"^(https?://[^\s/@]+/?)?$"),
    Allowed("a URL such as http://127.0.0.1:19530, without user, password or path, or nothing"),
]
Prefix = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"),
    Allowed("1 to 64 letters, digits and _, not beginning with a digit"),
]


DatabaseName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]{0,254})?$"),
    Allowed("letters, digits and _, not beginning with a digit, or nothing"),
]
PemFile = Annotated[str, Field(max_length=4096), Allowed("the path of a PEM file, or nothing")]
ServerName = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{0,253}$"), Allowed("a host name, or nothing")]


class MilvusAccess(Table):
    """The connection options that daemons and gateways share."""

    uri: ServerUrl = ""
    """Address of the server."""
    token_env: VariableName = ""
    """Environment variable with the token: "user:password" or an API key."""
    db_name: DatabaseName = ""
    """Database of the collections; empty means the server's default."""
    ca_file: PemFile = ""
    """Certificates that verify the server, if not those of the system; requires https."""
    cert_file: PemFile = ""
    """Certificate of this program, for mutual TLS."""
    key_file: PemFile = ""
    """Private key of cert_file, without password."""
    server_name: ServerName = ""
    """Name in the server's certificate, if it differs from the host in uri."""
    replicas: Annotated[int, Field(ge=1, le=64), Unit("copies")] = 1
    """In-memory copies of each collection in the query nodes."""

    def disagreements(self, uri: str) -> Iterator[tuple[str, str]]:
        """Yields keys that contradict each other, with the allowed values."""
        if (self.ca_file or self.cert_file or self.server_name) and not uri.startswith("https://"):
            yield "milvus.uri", "a URL that begins with https://, because a certificate is configured"
        if bool(self.cert_file) != bool(self.key_file):
            yield "milvus.key_file", "cert_file and key_file must be set together"
        if self.cert_file and not self.ca_file:
            yield "milvus.ca_file", "the certificates that verify the server, because cert_file is set"


class MilvusSettings(MilvusAccess, ExtensionTable):
    """The Milvus server to which the index is published if index.backend is "milvus". It needs the extra
    milvus.
    """

    shards: Annotated[int, Field(ge=1, le=16), Unit("shards")] = 1
    """Write channels of a new collection; more than 1 helps with many daemons."""
    partitions: Annotated[int, Field(ge=0, le=1024), Unit("partitions")] = 0
    """Partitions for the vaults of a new collection, of which a search reads only its own; 0 means the
    server's default."""
    index_type: Annotated[
        str, Field(pattern=r"^[A-Z][A-Z0-9_]{1,40}$"), Allowed("the name of a Milvus index, such as HNSW")
    ] = "AUTOINDEX"
    """Vector index of a new collection."""
    index_params: Annotated[
        dict[str, int | float | str],
        Allowed("a table of name = value, such as {M = 16, efConstruction = 200}"),
    ] = Field(default_factory=dict)
    """Parameters of that index."""
    collection_prefix: Prefix = "vault_indexer"
    """Prefix of all collection names, which separates installations."""
    # how new an answer of the server has to be before a change stops counting as pending: "session" sees what
    # this daemon has written, "bounded" what any reader sees within the server's tolerance
    consistency: Tuned[Literal["session", "bounded"]] = "session"
    keeper: Annotated[str, Field(max_length=200), Allowed("a text of at most 200 characters")] = ""
    """Name of this daemon, unique on the server; it identifies a vault together with its path. Empty means
    the host name."""
    store_bodies: bool = True
    """Store the text of chunks on the server too; with false, a gateway requests it from the daemon."""
    timeout_s: Tuned[float] = 10.0  # seconds; a call that takes longer has failed, and is made again

    @classmethod
    def with_defaults(cls, tables: Mapping[str, object]) -> Mapping[str, object]:
        """Turns token weights off by default: separate weights would make each vault's vectors a different
        model, and the vaults of a server are searched together."""
        index, embedding = tables.get("index"), tables.get("embedding", {})
        if isinstance(index, dict) and isinstance(embedding, dict) and index.get("backend") == "milvus":
            return {**tables, "embedding": {"token_weights": "none", **embedding}}
        return tables

    def check(self, settings: Settings) -> None:
        """Raises DisagreementError if `index.backend` needs a server that is not configured, and for
        inconsistent TLS files."""
        if settings.index.backend == "milvus" and not self.uri:
            raise DisagreementError("the URL of the server is required", "milvus.uri", "index.backend")
        for key, allowed in self.disagreements(self.uri):
            raise DisagreementError(allowed, key)
