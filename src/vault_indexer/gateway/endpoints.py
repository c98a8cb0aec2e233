"""The questions that a gateway answers, as rows like those of a daemon's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.contract.bounds import MAX_LIMIT, MAX_PATH_BYTES
from vault_indexer.serve.endpoints import SEARCH, Endpoint, Parameter

if TYPE_CHECKING:
    from vault_indexer.serve.shapes import GatewayAnswerJson, PublishedVaultListJson

_OF_DAEMON = {parameter.name: parameter for parameter in SEARCH.parameters}

GATEWAY_SEARCH: Endpoint[GatewayAnswerJson] = Endpoint(
    name="search",
    path="/v1/search",
    help="Search the vaults that the user may read; the best hits come first.",
    parameters=(
        _OF_DAEMON["q"],
        Parameter(
            name="limit", kind=int, default=0, minimum=0, maximum=MAX_LIMIT, help="Hits at most; 0: 10."
        ),
        _OF_DAEMON["by"],
        Parameter(
            name="vault",
            default="",
            max_chars=401,
            help="The name of one vault, or KEEPER/NAME; empty means all.",
        ),
        Parameter(
            name="folder",
            default="",
            max_chars=MAX_PATH_BYTES,
            help="Only notes in this folder of their vault, at any depth.",
        ),
        Parameter(
            name="kind", choices=("", "note", "canvas"), default="", help="Only notes, or only canvases."
        ),
        _OF_DAEMON["fields"],
    ),
    answer="GatewayAnswer",
    answer_help="Ranked hits.",
)

GATEWAY_VAULTS: Endpoint[PublishedVaultListJson] = Endpoint(
    name="vaults",
    path="/v1/vaults",
    help="The vaults that the user may read, as they are published.",
    answer="PublishedVaultList",
    answer_help="The vaults, by name.",
)
