"""The options of a Milvus server that holds the derived indices of many vaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vault_indexer.config.fields import TUNING, Allowed, Table, Unit, VariableName

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


class MilvusSettings(Table):
    """The Milvus server to which the index is published if index.backend is "milvus". It needs the extra
    milvus.
    """

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
    collection_prefix: Prefix = Field(
        default="vault_indexer",
        description="the names of all collections begin with it; installations with different prefixes do "
        "not see each other",
    )
    consistency: Annotated[Literal["session", "bounded"], TUNING] = Field(
        default="session",
        description="how new an answer of the server has to be before a change stops counting as pending: "
        "session sees what this daemon has written, bounded what any reader sees within the "
        "server's tolerance (5 seconds, unless it is set otherwise)",
    )
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
    timeout_s: Annotated[float, Field(gt=0, le=600), Unit("seconds"), TUNING] = Field(
        default=10.0, description="a call to the server that takes longer has failed, and is made again later"
    )
