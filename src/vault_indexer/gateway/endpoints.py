"""The questions that a gateway answers, as rows like those of a daemon's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.contract.gateway_requests import (
    GatewayAskRequest,
    GatewayNoteRequest,
    GatewayRelatedRequest,
    GatewaySearchRequest,
)
from vault_indexer.serve.api.endpoints import Endpoint

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import (
        AskAnswerJson,
        GatewayAnswerJson,
        GatewayNoteJson,
        PublishedVaultListJson,
        RelatedAnswerJson,
    )

GATEWAY_SEARCH: Endpoint[GatewayAnswerJson] = Endpoint(
    name="search",
    path="/v1/search",
    help="Search the vaults that the user may read; the best hits come first.",
    request=GatewaySearchRequest,
    answer="GatewayAnswer",
    answer_help="Ranked hits.",
)

GATEWAY_NOTE: Endpoint[GatewayNoteJson] = Endpoint(
    name="note",
    path="/v1/note",
    help="A note, as its keeper has published it.",
    request=GatewayNoteRequest,
    answer="GatewayNote",
    answer_help="The note.",
)

GATEWAY_RELATED: Endpoint[RelatedAnswerJson] = Endpoint(
    name="related",
    path="/v1/related",
    help="Notes near a note in its vault, by meaning and by the links among them.",
    request=GatewayRelatedRequest,
    answer="RelatedAnswer",
    answer_help="The notes near it.",
)

GATEWAY_ASK: Endpoint[AskAnswerJson] = Endpoint(
    name="ask",
    method="POST",
    path="/v1/ask",
    help="Answer a question with sentences of notes, each with its place.",
    request=GatewayAskRequest,
    answer="AskAnswer",
    answer_help="The answer.",
)

GATEWAY_VAULTS: Endpoint[PublishedVaultListJson] = Endpoint(
    name="vaults",
    path="/v1/vaults",
    help="The vaults that the user may read, as they are published.",
    answer="PublishedVaultList",
    answer_help="The vaults, by name.",
)
