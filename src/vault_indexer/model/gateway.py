"""The answers of a gateway. A key has the meaning that it has in the answers of a daemon; those that a
gateway cannot fill are missing, never empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from vault_indexer.contract.json_value import JsonValue
from vault_indexer.contract.marks import HIDDEN, ChosenKeys, Digits
from vault_indexer.model.answers import Correction, Hit, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayHit(Hit):
    """A hit of a vault that `keeper` keeps and published last at `published_at`. Without its text, `snippet`,
    `marks` and `content` are empty."""

    vault: str
    keeper: str
    published_at: str


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The answer to one search, as `SearchAnswer`.

    `keys` are those of each hit that the JSON has (None: all).
    """

    query: str
    took_ms: Annotated[float, Digits(2)]
    results: Annotated[tuple[GatewayHit, ...], ChosenKeys("keys")]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()
    likely: int = 0
    keys: Annotated[frozenset[str] | None, HIDDEN] = None


@dataclass(frozen=True, slots=True)
class GatewayNote:
    """A note of a vault that `keeper` keeps, as it was published at `published_at`."""

    path: str
    title: str
    language: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    frontmatter: Mapping[str, JsonValue]
    text: str
    modified_time: str
    vault: str
    keeper: str
    published_at: str


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
    """Whether the gateway can answer searches, and what its administrator should look at."""

    ok: bool
    warnings: tuple[str, ...]
