"""The requests of a gateway, as those of a daemon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from vault_indexer.contract.bounds import MAX_LIMIT, MAX_PATH_BYTES
from vault_indexer.contract.marks import Says
from vault_indexer.contract.requests import By, Fields, Query


@dataclass(frozen=True, slots=True)
class GatewaySearchRequest:
    """One search of a gateway."""

    query: Query
    limit: Annotated[int, Says(help="Hits at most; 0: 10.", minimum=0, maximum=MAX_LIMIT)] = 0
    by_note: By = False
    vault: Annotated[
        str, Says(help="The name of one vault, or KEEPER/NAME; empty means all.", max_chars=401)
    ] = ""
    folder: Annotated[
        str, Says(help="Only notes in this folder of their vault, at any depth.", max_chars=MAX_PATH_BYTES)
    ] = ""
    kind: Annotated[Literal["", "note", "canvas"], Says(help="Only notes, or only canvases.")] = ""
    fields: Fields = ""
