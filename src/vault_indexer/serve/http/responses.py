"""The responses that say what went wrong: each error has its status and one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.contract.codec import encode
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
from vault_indexer.model import ErrorReport, Failure

if TYPE_CHECKING:
    from starlette.responses import JSONResponse

_RETRY_AFTER_S = "2"


def error_response(error: VaultIndexerError) -> JSONResponse:
    """The JSON response for an application error, with its status."""
    response = failure(_status_of(error), error_report(error))
    if isinstance(error, BackendError):
        response.headers["Retry-After"] = _RETRY_AFTER_S
    return response


def error_report(error: VaultIndexerError) -> ErrorReport:
    """An error meant for a person; `kind` is its class in snake_case without "Error"."""
    name = type(error).__name__.removesuffix("Error")
    kind = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    return ErrorReport(kind or "error", str(error))


def wrong_request(problem: str) -> JSONResponse:
    """A request that no endpoint takes: 422."""
    return failure(422, ErrorReport("request", problem))


def internal_error() -> JSONResponse:
    """An error that nobody foresaw: 500. What it was is in the log."""
    return failure(500, ErrorReport("internal", "internal error: see the daemon's log"))


def failure(status: int, error: ErrorReport) -> JSONResponse:
    """The response with an error."""
    from starlette.responses import JSONResponse

    return JSONResponse(encode(Failure(error)), status_code=status)


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
