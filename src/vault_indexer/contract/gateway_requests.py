"""The requests of a gateway, as those of a daemon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_indexer.contract.bounds import MAX_LIMIT, MAX_PATH_BYTES, MAX_QUERY_BYTES
from vault_indexer.contract.marks import Key, Says
from vault_indexer.contract.requests import By, Fields, Query

OneVault = Annotated[str, Says(help="The name of one vault, or KEEPER/NAME; empty means all.", max_chars=401)]
NotePath = Annotated[
    str, Key("path"), Says(help="Path of the note from its vault, with its suffix.", max_chars=MAX_PATH_BYTES)
]


@dataclass(frozen=True, slots=True)
class GatewaySearchRequest:
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


@dataclass(frozen=True, slots=True)
class GatewayNoteRequest:
    """One note of a gateway."""

    note: NotePath
    vault: OneVault = ""


@dataclass(frozen=True, slots=True)
class GatewayRelatedRequest:
    """Notes near a note, in its vault."""

    note: NotePath
    limit: Annotated[int, Says(help="Notes at most.", minimum=1, maximum=MAX_LIMIT)] = 10
    vault: OneVault = ""


@dataclass(frozen=True, slots=True)
class GatewayAskRequest:
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
