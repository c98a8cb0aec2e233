"""A rebuild that was asked for: how it ends, and what is told of it."""

import json
import threading
from collections.abc import Callable
from threading import Event
from typing import cast

import pytest
from waiting import DEADLINE_S

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import (
    BackendError,
    NoteError,
    ProviderError,
    QueryTimeoutError,
    UnavailableError,
    UnknownNoteError,
    UsageError,
    VaultError,
    VaultIndexerError,
)
from vault_indexer.model import Progress, RebuildReport
from vault_indexer.serve.http.rebuilds import Rebuilds
from vault_indexer.serve.http.routes import error_response
from vault_indexer.service import VaultService

Report = Callable[[Progress], None]


class BuildingService:
    """The part of the service that a rebuild asks: it fails with the next error, if there is one."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.released = Event()
        self.asked: list[RebuildOptions] = []

    def rebuild(self, _report: Report, options: RebuildOptions) -> RebuildReport | None:
        self.asked.append(options)
        assert self.released.wait(DEADLINE_S)
        if self._errors:
            raise self._errors.pop(0)
        return None


def rebuilds_of(service: BuildingService) -> Rebuilds:
    return Rebuilds(lambda: cast("VaultService", service))


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (ProviderError("no model"), "provider", "no model"),
        (KeyError("secret"), "internal", "the rebuild failed; see the daemon's log"),
    ],
)
def test_a_rebuild_that_fails_says_why_and_another_may_begin(error: Exception, kind: str, said: str) -> None:
    service = BuildingService(error)
    rebuilds = rebuilds_of(service)
    service.released.set()
    rebuilds.start(RebuildOptions())
    ended = rebuilds.wait(lambda: False)
    assert ended.error
    assert (ended.running, ended.error.kind, ended.error.message) == (False, kind, said)
    rebuilds.start(RebuildOptions())
    assert rebuilds.wait(lambda: False).error is None
    assert len(service.asked) == 2


def test_one_runs_at_a_time_and_a_server_that_stops_does_not_wait_for_it() -> None:
    service = BuildingService()
    rebuilds = rebuilds_of(service)
    for _ in range(2):
        rebuilds.start(RebuildOptions())
    assert rebuilds.wait(lambda: True).running
    threads = [one.daemon for one in threading.enumerate() if one.name == "rebuild"]
    assert threads and all(threads), "the process ends without waiting for it"
    service.released.set()
    rebuilds.wait(lambda: False)
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (NoteError("x"), 404, "note"),
        (UnknownNoteError("x"), 404, "unknown_note"),
        (UsageError("x"), 422, "usage"),
        (ProviderError("x"), 502, "provider"),
        (QueryTimeoutError("x"), 504, "query_timeout"),
        (UnavailableError("x"), 503, "unavailable"),
        (VaultError("x"), 503, "vault"),
        (VaultIndexerError("x"), 503, "vault_indexer"),
        (BackendError("x"), 503, "backend"),
    ],
)
def test_an_error_has_its_status(error: VaultIndexerError, status: int, kind: str) -> None:
    response = error_response(error)
    assert response.status_code == status
    body = json.loads(bytes(response.body))
    assert body["error"] == {"kind": kind, "message": "x"}
    assert (body["status"], body["detail"]) == (status, "x")
    assert response.headers.get("retry-after") == ("2" if kind == "backend" else None)
