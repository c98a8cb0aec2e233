"""The options of a Milvus server that holds the derived indices of many vaults."""

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
    """How a daemon and a gateway reach a server that others run."""

    uri: ServerUrl = Field(
        default="",
        description='address of the server, such as "http://127.0.0.1:19530". Its token stands in a variable '
        "of its own (token_env)",
    )
    token_env: VariableName = Field(
        default="",
        description='environment variable that holds the token ("user:password" or an API key); the token '
        "itself is never in a file",
    )
    db_name: DatabaseName = Field(
        default="", description="database on the server that holds the collections; empty: its default one"
    )
    ca_file: PemFile = Field(
        default="",
        description="certificates that the server's is checked with, if they are not those of the system; "
        "with https",
    )
    cert_file: PemFile = Field(
        default="", description="certificate of this program, for a server that wants one (mutual TLS)"
    )
    key_file: PemFile = Field(default="", description="private key of cert_file, without a password")
    server_name: ServerName = Field(
        default="", description="name in the server's certificate, if it is not that of the uri"
    )
    replicas: Annotated[int, Field(ge=1, le=64), Unit("copies")] = Field(
        default=1, description="copies of each collection that the server's query nodes hold in memory"
    )

    def disagreements(self, uri: str) -> Iterator[tuple[str, str]]:
        """Keys that do not fit together, and what is allowed."""
        if (self.ca_file or self.cert_file or self.server_name) and not uri.startswith("https://"):
            yield "milvus.uri", "a URL that begins with https://, since a certificate is configured"
        if bool(self.cert_file) != bool(self.key_file):
            yield "milvus.key_file", "cert_file and key_file together"
        if self.cert_file and not self.ca_file:
            yield "milvus.ca_file", "the certificates that the server's is checked with, beside cert_file"


class MilvusSettings(MilvusAccess, ExtensionTable):
    """The Milvus server to which the index is published if index.backend is "milvus". It needs the extra
    milvus.
    """

    shards: Annotated[int, Field(ge=1, le=16), Unit("shards")] = Field(
        default=1, description="channels by which a new collection is written; more than 1 for many daemons"
    )
    partitions: Annotated[int, Field(ge=0, le=1024), Unit("partitions")] = Field(
        default=0,
        description="parts that the vaults of a new collection are spread over; a search reads those of its "
        "vaults. 0: as many as the server makes by itself",
    )
    index_type: Annotated[
        str, Field(pattern=r"^[A-Z][A-Z0-9_]{1,40}$"), Allowed("the name of an index of Milvus, such as HNSW")
    ] = Field(default="AUTOINDEX", description="index of the vectors of a new collection")
    index_params: Annotated[
        dict[str, int | float | str],
        Allowed("a table of name = value, such as {M = 16, efConstruction = 200}"),
    ] = Field(default={}, description="parameters of that index")
    collection_prefix: Prefix = Field(
        default="vault_indexer",
        description="the names of all collections begin with it; installations with different prefixes do "
        "not see each other",
    )
    # how new an answer of the server has to be before a change stops counting as pending: "session" sees what
    # this daemon has written, "bounded" what any reader sees within the server's tolerance
    consistency: Tuned[Literal["session", "bounded"]] = "session"
    keeper: Annotated[str, Field(max_length=200), Allowed("a text of at most 200 characters")] = Field(
        default="",
        description="name of this daemon among all that publish to the server; together with the path of the "
        "vault it identifies the vault. Empty means the name of the host: choose one where that changes",
    )
    store_bodies: bool = Field(
        default=True,
        description="whether the text of the chunks is stored on the server, too. With false, a gateway asks "
        "the daemon of the vault for it",
    )
    timeout_s: Tuned[float] = 10.0  # seconds; a call that takes longer has failed, and is made again

    @classmethod
    def with_defaults(cls, tables: Mapping[str, object]) -> Mapping[str, object]:
        """The vaults of a server are searched together: weights of its own would make each another model."""
        index, embedding = tables.get("index"), tables.get("embedding", {})
        if isinstance(index, dict) and isinstance(embedding, dict) and index.get("backend") == "milvus":
            return {**tables, "embedding": {"token_weights": "none", **embedding}}
        return tables

    def check(self, settings: Settings) -> None:
        """Raises DisagreementError without the server that `index.backend` needs, and for files of TLS that
        do not fit together."""
        if settings.index.backend == "milvus" and not self.uri:
            raise DisagreementError("the URL of the server is needed", "milvus.uri", "index.backend")
        for key, allowed in self.disagreements(self.uri):
            raise DisagreementError(allowed, key)
