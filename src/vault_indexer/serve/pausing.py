"""`POST /v1/pause` and `/v1/resume`: indexing rests at the user's word, searches go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from vault_indexer.model import MAX_PAUSE_S
from vault_indexer.serve.openapi import answers
from vault_indexer.serve.shapes_pause import PauseJson
from vault_indexer.serve.wire import pause_json
from vault_indexer.service import VaultService

if TYPE_CHECKING:
    from fastapi import FastAPI


class PauseOrder(BaseModel):
    """`POST /v1/pause`: for so many seconds, or until `/v1/resume`."""

    model_config = ConfigDict(extra="forbid")

    seconds: Annotated[float, Field(gt=0, le=MAX_PAUSE_S, allow_inf_nan=False)] | None = None


class ResumeOrder(BaseModel):
    """`POST /v1/resume`: nothing to say."""

    model_config = ConfigDict(extra="forbid")


def add_pausing(api: FastAPI, service: VaultService) -> None:
    """Both routes. Saying the same twice is no mistake: the last word counts."""
    from fastapi.responses import JSONResponse

    @api.post("/v1/pause", response_model=None, responses={200: answers("whether indexing rests", PauseJson)})
    def pause(order: PauseOrder) -> JSONResponse:
        """Let indexing rest. Changes of the vault are kept and indexed when it goes on."""
        return JSONResponse(pause_json(service.pause(order.seconds)))

    @api.post(
        "/v1/resume", response_model=None, responses={200: answers("whether indexing rests", PauseJson)}
    )
    def resume(_order: ResumeOrder) -> JSONResponse:
        """Let indexing go on."""
        return JSONResponse(pause_json(service.resume()))
