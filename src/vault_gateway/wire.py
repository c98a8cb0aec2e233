"""The questions and answers of a gateway. A key has the meaning that it has in the answers of a daemon; those
that a gateway cannot fill are missing, never empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from vault_indexer.contract.json_value import JsonValue
from vault_indexer.contract.marks import (
    HIDDEN,
    MAX_LIMIT,
    MAX_PATH_BYTES,
    MAX_QUERY_BYTES,
    ChosenKeys,
    Digits,
    Key,
    Says,
)
from vault_indexer.contract.requests import By, Fields, Query
from vault_indexer.model.answers import Correction, Hit, Verdict
from vault_indexer.serve.api.endpoints import Endpoint


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


# The requests of a gateway, like those of a daemon.


OneVault = Annotated[str, Says(help="The name of one vault, or KEEPER/NAME; empty means all.", max_chars=401)]
NotePath = Annotated[
    str, Key("path"), Says(help="Path of the note from its vault, with its suffix.", max_chars=MAX_PATH_BYTES)
]


class GatewaySearchRequest(NamedTuple):
    """One search of a gateway."""

    query: Query
    limit: Annotated[int, Says(help="Notes at most; 0: 10.", minimum=0, maximum=MAX_LIMIT)] = 0
    by_note: By = False
    vault: OneVault = ""
    folder: Annotated[
        str, Says(help="Only notes in this folder of their vault, at any depth.", max_chars=MAX_PATH_BYTES)
    ] = ""
    kind: Annotated[Literal["", "note", "canvas"], Says(help="Only notes, or only canvases.")] = ""
    fields: Fields = ""


class GatewayNoteRequest(NamedTuple):
    """One note of a gateway."""

    note: NotePath
    vault: OneVault = ""


class GatewayRelatedRequest(NamedTuple):
    """Notes near a note, in its vault."""

    note: NotePath
    limit: Annotated[int, Says(help="Notes at most.", minimum=1, maximum=MAX_LIMIT)] = 10
    vault: OneVault = ""


class GatewayAskRequest(NamedTuple):
    """One question to a gateway, which quotes notes and asks no language model."""

    question: Annotated[
        str,
        Key("q"),
        Says(help=f"The question. At most {MAX_QUERY_BYTES} bytes of UTF-8.", holds="query"),
    ]
    limit: Annotated[
        int,
        Says(help="Passages to read at most; 0: as many as a search shows.", minimum=0, maximum=MAX_LIMIT),
    ] = 0
    vault: OneVault = ""


# The queries that a gateway answers, as rows like those of a daemon's table.


GATEWAY_SEARCH: Endpoint[Any] = Endpoint(
    name="search",
    path="/v1/search",
    help="Search the vaults that the user may read; the best hits come first.",
    request=GatewaySearchRequest,
    answer="vault_gateway.wire:GatewayAnswer",
    answer_help="Ranked hits.",
)

GATEWAY_NOTE: Endpoint[Any] = Endpoint(
    name="note",
    path="/v1/note",
    help="A note, as its keeper has published it.",
    request=GatewayNoteRequest,
    answer="vault_gateway.wire:GatewayNote",
    answer_help="The note.",
)

GATEWAY_RELATED: Endpoint[Any] = Endpoint(
    name="related",
    path="/v1/related",
    help="Notes near a note in its vault, by meaning and by the links among them.",
    request=GatewayRelatedRequest,
    answer="RelatedAnswer",
    answer_help="The notes near it.",
)

GATEWAY_ASK: Endpoint[Any] = Endpoint(
    name="ask",
    method="POST",
    path="/v1/ask",
    help="Answer a question with sentences of notes, each with its place.",
    request=GatewayAskRequest,
    answer="AskAnswer",
    answer_help="The answer.",
)

GATEWAY_VAULTS: Endpoint[Any] = Endpoint(
    name="vaults",
    path="/v1/vaults",
    help="The vaults that the user may read, as they are published.",
    answer="vault_gateway.wire:PublishedVaultList",
    answer_help="The vaults, by name.",
)
