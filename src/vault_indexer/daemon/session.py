"""The daemon as the service sees it: the loop in its thread, and answers that never wait for it."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from vault_indexer.config import Settings
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.loop import IndexLoop, Pace
from vault_indexer.daemon.loop_request import STOPPED, BuildRequest, CheckRequest
from vault_indexer.daemon.state import Clock, RecentNotices
from vault_indexer.daemon.sync import VaultSync, status_of
from vault_indexer.daemon.tasks.embedding import missing_vectors_notice
from vault_indexer.daemon.tasks.shared_budget import SharedBudget
from vault_indexer.errors import IndexUnusableError, UnavailableError, VaultIndexerError
from vault_indexer.model import Problem, Progress, RebuildReport, StatusReport
from vault_indexer.search import IndexReader
from vault_indexer.store import index_errors
from vault_indexer.text.phrases import iso_moment
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

Report = Callable[[Progress], None]

_STOP_S = 1.5
_SWITCH_S = 0.001
"""A search gives the interpreter away a dozen times, at each call of SQLite or FAISS. While the loop indexes,
it gets it back after this number of seconds; Python's default is five times as long."""


class DaemonSession:
    """The daemon's side of VaultService: it holds the index lock and runs IndexLoop in a thread of its own.

    Any thread may call its methods. Searches and `status` never wait for the loop: they read its published
    state and the active generation. `rebuild`, `verify` and `wait_fresh` wait until the loop has done them.
    Raises LockedError, VaultError, IndexUnusableError or DiskFullError when it cannot begin. It sets the
    interpreter's switch interval: the process is the daemon's. `clock` (seconds) tells how long changes
    have been pending. `budget` is shared with the other sessions of the process (None: there are none).
    """

    def __init__(
        self,
        assembly: Assembly,
        clock: Clock = time.monotonic,
        budget: SharedBudget | None = None,
    ) -> None:
        sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
        self._assembly = assembly
        self._recent = RecentNotices()
        self._closing = threading.Lock()
        self._check_progress: Progress | None = None
        assembly.index_dir.prepare()
        self._lock = IndexLock(assembly.index_dir.root, "the daemon")
        self._lock.acquire()
        try:
            self._vault_sync = VaultSync(assembly, live=True, clock=clock)
            watcher = VaultWatcher(
                assembly.vault,
                self._vault_sync.rules,
                assembly.settings.watch,
                dirty=self._vault_sync.dirty,
            )
            with index_errors(assembly.index_dir.root):
                reasons = self._vault_sync.open_current()
            self._loop = IndexLoop(self._vault_sync, watcher, self._lock, reasons, Pace(clock), budget)
        except BaseException:
            self._lock.release()
            raise
        watcher.start()
        name = f"indexer-loop {assembly.index_dir.root}"
        self._thread = threading.Thread(target=self._loop.run, name=name, daemon=True)
        self._thread.start()

    @property
    def vault(self) -> Path:
        return self._assembly.vault

    @property
    def settings(self) -> Settings:
        return self._vault_sync.assembly.settings

    @property
    def llm_cache(self) -> Path:
        """The folder where answers of the language model are kept."""
        return self._assembly.llm_cache

    def reader(self) -> IndexReader:
        """The active generation. Raises IndexUnusableError while the first one is being built,
        UnavailableError after `close`."""
        if self._loop.is_stopping:
            raise UnavailableError(STOPPED)
        current = self._vault_sync.current
        if current is None:
            raise IndexUnusableError(f"the index is not ready yet: {self._loop.state.build_text}")
        return current.reader

    def pending(self) -> int:
        return self._loop.pending()

    def missing(self) -> int:
        """At least how many notes of the vault the index has never held. It is 0 only once it holds all."""
        unread = self._vault_sync.unread
        return 0 if unread is None else max(1, unread.left)

    def notices(self) -> tuple[str, ...]:
        state, current = self._loop.state, self._vault_sync.current
        missing = () if current is None else missing_vectors_notice(current.writer.holder)
        recent = self._recent.to_show(filter(None, (*state.happened, state.advice)))
        return (*state.under_way, *missing, *recent, *state.wrong)

    @property
    def failure(self) -> VaultIndexerError | None:
        """Why the daemon has to end; None while it can continue."""
        return self._loop.state.failure

    @property
    def paused(self) -> bool:
        return self._loop.paused

    def pause(self, seconds: float | None) -> None:
        """Pause indexing for so long, or (None) until `resume`."""
        self._loop.pause(seconds)

    def resume(self) -> None:
        self._loop.resume()

    def wait_fresh(self, deadline_s: float) -> bool:
        """Have the vault scanned now, and wait until what was found is in the index. False at once while
        indexing is paused."""
        return self._loop.wait_for_scan(deadline_s)

    def pause_upgrade(self, paused: bool) -> None:
        """Make no vectors of a better model, or go on."""
        self._loop.pause_upgrade(paused)

    def rebuild(self, report: Report, options: RebuildOptions) -> RebuildReport:
        """Have the next generation built, and wait until it is active."""
        request = BuildRequest(report, options)
        self._loop.request(request)
        return request.answer.result()

    def status(self) -> StatusReport:
        state = self._loop.state
        return replace(
            status_of(self._vault_sync, state.name, state.pending),
            watching=self._loop.watching,
            detail=state.detail,
            progress=state.reading_progress or state.progress or self._check_progress,
            paused=state.paused,
            paused_until=iso_moment(state.paused_until) if state.paused_until else "",
            unpublished=state.unpublished,
            upgrade=self._loop.upgrade,
        )

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        """Compare everything with everything, between two edits. `status` says how far it is."""
        request = CheckRequest(self._record_check_progress, repair=repair)
        self._loop.request(request)
        try:
            return request.answer.result()
        finally:
            self._check_progress = None

    def close(self) -> None:
        """Stop within two seconds: a build is ended, an edit under way is left out. From then on requests are
        refused."""
        self._loop.stop()
        self._thread.join(_STOP_S)
        if self._thread.is_alive():
            # It may still write. The lock goes with this process, or with the loop if the process goes on.
            name = f"indexer-end {self._assembly.index_dir.root}"
            threading.Thread(target=self._close_after_loop, name=name, daemon=True).start()
            return
        self._close_after_loop()

    def _close_after_loop(self) -> None:
        self._thread.join()
        try:
            with self._closing, index_errors(self._assembly.index_dir.root):
                self._vault_sync.close()
        except UnavailableError as error:  # the catalog is whole: what is missing is made at the next start
            log.warning("the index could not be closed cleanly: %s", error)
        finally:
            self._lock.release()

    def _record_check_progress(self, progress: Progress) -> None:
        self._check_progress = progress
