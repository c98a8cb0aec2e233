"""The questions that a gateway answers, as rows like those of a daemon's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.contract.gateway_requests import GatewaySearchRequest
from vault_indexer.serve.api.endpoints import Endpoint

if TYPE_CHECKING:
    from vault_indexer.serve.api.shapes import GatewayAnswerJson, PublishedVaultListJson

GATEWAY_SEARCH: Endpoint[GatewayAnswerJson] = Endpoint(
    name="search",
    path="/v1/search",
    help="Search the vaults that the user may read; the best hits come first.",
    request=GatewaySearchRequest,
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
