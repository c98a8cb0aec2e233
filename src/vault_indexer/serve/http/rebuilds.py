"""Runs at most one rebuild at a time per vault, in a separate thread that any number of clients can watch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import ErrorReport, RebuildRun
from vault_indexer.serve.http.routes import error_report
from vault_indexer.service import VaultService
from vault_indexer.vaults import VaultRuntime, Vaults

_LOG = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.2


class VaultRebuilds:
    """The rebuilds of each vault of a server. Thread-safe."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults
        self._lock = threading.Lock()
        self._by_name: dict[str, tuple[VaultRuntime, Rebuilds]] = {}

    def of_vault(self, name: str) -> Rebuilds:
        """The rebuilds of the vault with this name, or of the only vault if `name` is empty. Raises the
        errors of `Vaults.service`."""
        holder = self._vaults.holder(name)
        # Only for its errors: a vault that is not open cannot be rebuilt.
        holder.service()
        with self._lock:
            known, rebuilds = self._by_name.get(holder.name, (None, None))
            if rebuilds is None or known is not holder:  # another vault may now have the name
                rebuilds = Rebuilds(holder.service)
                self._by_name[holder.name] = holder, rebuilds
            return rebuilds


class Rebuilds:
    """The most recent rebuild of one vault. Thread-safe."""

    def __init__(self, service: Callable[[], VaultService]) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last = RebuildRun(running=False, progress=None, report=None, error=None)

    def start(self, options: RebuildOptions) -> None:
        with self._lock:
            # A second request joins the running rebuild instead of beginning another.
            if self._thread is not None and self._thread.is_alive():
                return
            self._last = RebuildRun(running=True, progress=None, report=None, error=None)
            self._thread = threading.Thread(target=self._run, args=(options,), name="rebuild", daemon=True)
            self._thread.start()

    def wait(self, stopping: Callable[[], bool]) -> RebuildRun:
        """Returns how the current rebuild ended, or its progress when the server stops."""
        with self._lock:
            thread = self._thread
        while thread is not None and thread.is_alive() and not stopping():
            thread.join(_LOOK_EVERY_S)
        return self.state()

    def state(self) -> RebuildRun:
        with self._lock:
            return self._last

    def _run(self, options: RebuildOptions) -> None:
        # The thread may live a moment longer than its result, so that is what ends the run.
        try:
            report = self._service().rebuild(lambda progress: self._record(progress=progress), options)
        except VaultIndexerError as error:
            self._record(running=False, error=error_report(error))
        except Exception:  # noqa: BLE001 - logged, and reported to the waiting caller
            _LOG.exception("the rebuild failed")
            failed = ErrorReport("internal", "the rebuild failed; see the daemon's log")
            self._record(running=False, error=failed)
        else:
            self._record(running=False, report=report)

    def _record(self, **values: Any) -> None:
        with self._lock:
            self._last = replace(self._last, **values)
