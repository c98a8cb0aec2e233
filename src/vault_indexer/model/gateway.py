"""The answers of a gateway. A key has the meaning that it has in the answers of a daemon; those that a
gateway cannot fill are missing, never empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vault_indexer.contract.marks import HIDDEN, ChosenKeys, Digits


@dataclass(frozen=True, slots=True)
class GatewayHit:
    """One ranked chunk. `content` is its body. Without its text, `snippet`, `marks`, `content` are empty.
    `published_at` is when the keeper last published a change of the vault."""

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
    score: Annotated[float, Digits(4)]
    snippet: str
    marks: tuple[tuple[int, int], ...]
    content: str
    modified_time: str
    published_at: str


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The answer to one search.

    `keys` are those of each hit that the JSON has (None: all).
    """

    query: str
    took_ms: Annotated[float, Digits(2)]
    results: Annotated[tuple[GatewayHit, ...], ChosenKeys("keys")]
    notices: tuple[str, ...]
    keys: Annotated[frozenset[str] | None, HIDDEN] = None


@dataclass(frozen=True, slots=True)
class PublishedVault:
    """A vault that the user may read, as it is published: `seq` is the last commit of its index, of the
    generation `generation`, `chunks` how many parts of notes, `model` what made its vectors. `published_at`
    is when its keeper last published a change, `seen_at` when it last said that it is there; `is_stale` says
    that this was too long ago."""

    id: str
    name: str
    keeper: str
    seq: int
    generation: int
    chunks: int
    languages: tuple[str, ...]
    model: str
    published_at: str
    seen_at: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class PublishedVaultList:
    """The vaults that the user may read."""

    vaults: tuple[PublishedVault, ...]


@dataclass(frozen=True, slots=True)
class GatewayHealth:
    """Whether the gateway answers."""

    ok: bool


@dataclass(frozen=True, slots=True)
class GatewayReadiness:
    """Whether the gateway can answer searches, and what whoever runs it should look at."""

    ok: bool
    warnings: tuple[str, ...]
