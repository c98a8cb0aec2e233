"""The responses that say what went wrong: each error has its status and one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.errors import (
    BackendError,
    NoteError,
    ProviderError,
    QueryTimeoutError,
    UnknownNoteError,
    UnknownVaultError,
    UsageError,
    VaultIndexerError,
)
from vault_indexer.serve.shapes import ErrorJson
from vault_indexer.serve.wire import error_json

if TYPE_CHECKING:
    from starlette.responses import JSONResponse

_RETRY_AFTER_S = "2"


def error_response(error: VaultIndexerError) -> JSONResponse:
    """An error of ours."""
    response = failure(_status_of(error), error_json(error))
    if isinstance(error, BackendError):
        response.headers["Retry-After"] = _RETRY_AFTER_S
    return response


def wrong_request(problem: str) -> JSONResponse:
    """A request that no endpoint takes: 422."""
    return failure(422, {"kind": "request", "message": problem})


def internal_error() -> JSONResponse:
    """An error that nobody foresaw: 500. What it was is in the log."""
    return failure(500, {"kind": "internal", "message": "internal error: see the daemon's log"})


def failure(status: int, error: ErrorJson) -> JSONResponse:
    """The response with an error."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": error}, status_code=status)


def _status_of(error: VaultIndexerError) -> int:
    match error:
        case NoteError() | UnknownNoteError() | UnknownVaultError():
            return 404
        case UsageError():
            return 422
        case ProviderError():
            return 502
        case QueryTimeoutError():
            return 504
        case _:
            return 503
