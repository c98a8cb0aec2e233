"""The questions that a gateway answers, as rows like those of a daemon's table."""

from __future__ import annotations

from vault_indexer.gateway.shapes import GatewaySearchJson, GatewayVaultsJson
from vault_indexer.serve.endpoints import SEARCH, Endpoint, Parameter
from vault_indexer.text.bounds import MAX_LIMIT, MAX_PATH_BYTES

_OF_DAEMON = {parameter.name: parameter for parameter in SEARCH.parameters}

GATEWAY_SEARCH: Endpoint[GatewaySearchJson] = Endpoint(
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
    answer=GatewaySearchJson,
    answer_help="Ranked hits.",
)

GATEWAY_VAULTS: Endpoint[GatewayVaultsJson] = Endpoint(
    name="vaults",
    path="/v1/vaults",
    help="The vaults that the user may read, as they are published.",
    answer=GatewayVaultsJson,
    answer_help="The vaults, by name.",
)
