"""The requests and answers of a gateway. Keys have the same meaning as in a daemon's answers; those that a
gateway cannot provide are missing, never empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from vault_indexer.contract import JsonValue
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
from vault_indexer.system import record


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayHit(Hit):
    """A hit of a vault that `keeper` last published at `published_at`. If its text is not available,
    `snippet`, `marks` and `content` are empty."""

    vault: str
    keeper: str
    published_at: str


@record
class GatewayAnswer:
    """The answer to one search, like `SearchAnswer`.

    `keys` are the keys of each hit in the JSON (None: all).
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


@record
class GatewayNote:
    """A note of a vault that `keeper` published, as of `published_at`."""

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


@record
class PublishedVault:
    """A published vault that the user may read. `seq` is the last commit of its index, of the generation
    `generation`, `chunks` the number of its chunks, and `model` its embedding model. `published_at` is the
    time at which its keeper last published a change, `seen_at` the time of the keeper's last report;
    `is_stale` means that this report is too old."""

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


@record
class PublishedVaultList:
    """The vaults that the user may read."""

    vaults: tuple[PublishedVault, ...]


@record
class GatewayHealth:
    ok: bool


@record
class GatewayReadiness:
    """Whether the gateway can answer searches, with warnings for its administrator."""

    ok: bool
    warnings: tuple[str, ...]


# The requests of a gateway, like those of a daemon.


OneVault = Annotated[str, Says(help="The name of one vault, or KEEPER/NAME; empty means all.", max_chars=401)]
NotePath = Annotated[
    str, Key("path"), Says(help="Path of the note in its vault, with the suffix.", max_chars=MAX_PATH_BYTES)
]


class GatewaySearchRequest(NamedTuple):
    query: Query
    limit: Annotated[int, Says(help="Maximum number of notes; 0 means 10.", minimum=0, maximum=MAX_LIMIT)] = 0
    by_note: By = False
    vault: OneVault = ""
    folder: Annotated[
        str, Says(help="Only notes in this folder of their vault, at any depth.", max_chars=MAX_PATH_BYTES)
    ] = ""
    kind: Annotated[Literal["", "note", "canvas"], Says(help="Only notes, or only canvases.")] = ""
    fields: Fields = ""


class GatewayNoteRequest(NamedTuple):
    note: NotePath
    vault: OneVault = ""


class GatewayRelatedRequest(NamedTuple):
    """Notes related to a note, in its vault."""

    note: NotePath
    limit: Annotated[int, Says(help="Maximum number of notes.", minimum=1, maximum=MAX_LIMIT)] = 10
    vault: OneVault = ""


class GatewayAskRequest(NamedTuple):
    """One question to a gateway, which quotes notes and calls no language model."""

    question: Annotated[
        str, Key("q"), Says(help=f"The question. At most {MAX_QUERY_BYTES} bytes of UTF-8.", holds="query")
    ]
    limit: Annotated[
        int,
        Says(
            help="Maximum number of passages to read; 0 means the number of hits of a search.",
            minimum=0,
            maximum=MAX_LIMIT,
        ),
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
    help="A note as published by its keeper.",
    request=GatewayNoteRequest,
    answer="vault_gateway.wire:GatewayNote",
    answer_help="The note.",
)

GATEWAY_RELATED: Endpoint[Any] = Endpoint(
    name="related",
    path="/v1/related",
    help="Notes related to a note in its vault, by meaning and by the links between them.",
    request=GatewayRelatedRequest,
    answer="RelatedAnswer",
    answer_help="The related notes.",
)

GATEWAY_ASK: Endpoint[Any] = Endpoint(
    name="ask",
    method="POST",
    path="/v1/ask",
    help="Answer a question with sentences from notes, each with its location.",
    request=GatewayAskRequest,
    answer="AskAnswer",
    answer_help="The answer.",
)

GATEWAY_VAULTS: Endpoint[Any] = Endpoint(
    name="vaults",
    path="/v1/vaults",
    help="The published vaults that the user may read.",
    answer="vault_gateway.wire:PublishedVaultList",
    answer_help="The vaults, by name.",
)
