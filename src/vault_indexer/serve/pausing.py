"""`POST /v1/pause` and `/v1/resume`: pause and resume indexing, while searches go on."""

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
    """`POST /v1/pause`."""

    model_config = ConfigDict(extra="forbid")

    seconds: Annotated[
        Annotated[float, Field(gt=0, le=MAX_PAUSE_S, allow_inf_nan=False)] | None,
        Field(description="How long to pause; without it, until `/v1/resume`."),
    ] = None


class ResumeOrder(BaseModel):
    """`POST /v1/resume`: an empty object."""

    model_config = ConfigDict(extra="forbid")


def add_pausing(api: FastAPI, service: VaultService) -> None:
    """Add both routes. Repeating a request is not an error; the last one counts."""
    from fastapi.responses import JSONResponse

    @api.post(
        "/v1/pause", response_model=None, responses={200: answers("Whether indexing is paused.", PauseJson)}
    )
    def pause(order: PauseOrder) -> JSONResponse:
        """Pause indexing. Changes made meanwhile are indexed after the pause."""
        return JSONResponse(pause_json(service.pause(order.seconds)))

    @api.post(
        "/v1/resume", response_model=None, responses={200: answers("Whether indexing is paused.", PauseJson)}
    )
    def resume(_order: ResumeOrder) -> JSONResponse:
        """Resume indexing."""
        return JSONResponse(pause_json(service.resume()))
