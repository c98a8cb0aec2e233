"""The JSON answers of a gateway. A key has the meaning that it has in the answers of a daemon; those that a
gateway cannot fill are missing, never empty."""

from __future__ import annotations

from typing import Annotated, TypedDict

from vault_indexer.serve.shapes import SOME_KEYS


class GatewayHitJson(TypedDict):
    """One ranked chunk. `content` is its body. Without its text, `snippet`, `marks`, `content` are empty."""

    vault: str
    keeper: str
    path: str
    kind: str
    title: str
    header_path: str
    start_pos: int
    end_pos: int
    start_line: int
    end_line: int
    line: int
    score: float
    snippet: str
    marks: list[list[int]]
    content: str
    modified_time: str


class GatewaySearchJson(TypedDict):
    """`GET /v1/search`."""

    query: str
    took_ms: float
    results: Annotated[list[GatewayHitJson], SOME_KEYS]
    notices: list[str]


class PublishedVaultJson(TypedDict):
    """A vault that the user may read, as it is published: `seq` is the last commit of its index, of the
    generation `generation`, `chunks` how many parts of notes, `model` what made its vectors."""

    name: str
    keeper: str
    seq: int
    generation: int
    chunks: int
    languages: list[str]
    model: str


class GatewayVaultsJson(TypedDict):
    """`GET /v1/vaults`."""

    vaults: list[PublishedVaultJson]


class GatewayHealthJson(TypedDict):
    """`GET /healthz` and `GET /readyz`."""

    ok: bool
