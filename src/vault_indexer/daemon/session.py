"""The session of the daemon: it runs the loop in a thread, and answers without waiting for it."""

from __future__ import annotations

import logging
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from vault_indexer.config import Settings
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly, Report, SharedBudget
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.loop import IndexLoop, Pace
from vault_indexer.daemon.state import Clock, RecentNotices, missing_vectors_notice
from vault_indexer.daemon.sync import VaultSync, status_of
from vault_indexer.daemon.tasks.rebuild import STOPPED, BuildRequest, CheckRequest
from vault_indexer.errors import IndexUnusableError, UnavailableError, VaultIndexerError
from vault_indexer.model import NoteChanges, Problem, RebuildReport, StatusReport
from vault_indexer.search import IndexReader
from vault_indexer.store import index_errors
from vault_indexer.text.phrases import iso_moment
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

_STOP_S = 1.5
_SWITCH_S = 0.001
"""The interpreter's switch interval in seconds. A search releases the GIL a dozen times, at each call of
SQLite or FAISS, and gets it back after this time while the loop indexes. Python's default is five times as
long."""


class DaemonSession:
    """The session behind VaultService in the daemon. It owns the index lock and runs IndexLoop in a thread.

    Any thread may call its methods. Searches and `status` never wait for the loop: they read its published
    state and the active generation. `rebuild`, `verify` and `wait_fresh` wait until the loop has finished.
    The constructor raises LockedError, VaultError, IndexUnusableError or DiskFullError if the session cannot
    start. It sets the interpreter's switch interval, because the process belongs to the daemon. `clock`
    (seconds) measures how long changes have been pending. `budget` is shared with the other sessions of the
    process (None: there are no others).
    """

    def __init__(
        self, assembly: Assembly, clock: Clock = time.monotonic, budget: SharedBudget | None = None
    ) -> None:
        sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
        self._assembly = assembly
        self._recent = RecentNotices()
        self._closing = threading.Lock()
        assembly.index_dir.prepare()
        self._lock = IndexLock(assembly.index_dir.root, "the daemon")
        # Before anything is opened: another process may be writing the index.
        self._lock.acquire()
        try:
            self._vault_sync = VaultSync(assembly, live=True, clock=clock)
            rules, dirty = self._vault_sync.rules, self._vault_sync.dirty
            watcher = VaultWatcher(assembly.vault, rules, assembly.settings.watch, dirty=dirty)
            with index_errors(assembly.index_dir.root):
                reasons = self._vault_sync.open_current()
            self._loop = IndexLoop(self._vault_sync, watcher, self._lock, reasons, Pace(clock), budget)
        except BaseException:
            self._lock.release()
            raise
        # Outside the block: a watcher never fails, and its thread must not outlive a failed start.
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
        return self._assembly.llm_cache

    def reader(self) -> IndexReader:
        """Returns the reader of the active generation. Raises IndexUnusableError while the first generation
        is being built, and UnavailableError after `close`."""
        # The files are being closed, so a lease could fail in the middle of a search.
        if self._loop.is_stopping:
            raise UnavailableError(STOPPED)
        current = self._vault_sync.current
        if current is None:
            raise IndexUnusableError(f"the index is not ready yet: {self._loop.state.build_text}")
        return current.reader

    def pending(self) -> int:
        return self._loop.pending()

    def missing(self) -> int:
        unread = self._vault_sync.unread
        return 0 if unread is None else max(1, unread.left)

    def changes(self, before: int, now: int) -> NoteChanges:
        return self._vault_sync.changes.since(before, now)

    def notices(self) -> tuple[str, ...]:
        state, current = self._loop.state, self._vault_sync.current
        missing = () if current is None else missing_vectors_notice(current.writer.holder)
        recent = self._recent.to_show(filter(None, (*state.happened, state.advice)))
        return (*state.under_way, *missing, *recent, *state.wrong)

    @property
    def failure(self) -> VaultIndexerError | None:
        return self._loop.state.failure

    @property
    def paused(self) -> bool:
        return self._loop.paused

    def pause(self, seconds: float | None) -> None:
        self._loop.pause(seconds)

    def resume(self) -> None:
        self._loop.resume()

    def wait_fresh(self, deadline_s: float) -> bool:
        """Requests a scan of the vault, and waits until its changes are in the index. Returns False at once
        while indexing is paused."""
        return self._loop.wait_for_scan(deadline_s)

    def pause_upgrade(self, paused: bool) -> None:
        self._loop.pause_upgrade(paused)

    def rebuild(self, report: Report, options: RebuildOptions) -> RebuildReport:
        """Requests a build of the next generation, and waits until it is active."""
        request = BuildRequest(report, options)
        self._loop.request(request)
        return request.answer.result()

    def status(self) -> StatusReport:
        state = self._loop.state
        return replace(
            status_of(self._vault_sync, state.name, state.pending),
            watching=state.watching,
            detail=state.detail,
            progress=state.reading_progress or state.progress or state.check_progress,
            paused=state.paused,
            paused_until=iso_moment(state.paused_until) if state.paused_until else "",
            unpublished=state.unpublished,
            upgrade=state.upgrade,
        )

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        """Compares the vault, the catalog and the derived indices between two edits. `status` reports the
        progress."""
        request = CheckRequest(repair=repair)
        self._loop.request(request)
        return request.answer.result()

    def close(self) -> None:
        """Stops the loop, and waits two seconds for it at most. A build is ended, a current edit is
        abandoned, and later requests are refused."""
        self._loop.stop()
        self._thread.join(_STOP_S)
        if not self._thread.is_alive():
            self._close_after_loop()
            return
        # The loop may still write, so the lock is released only when the loop or this process ends.
        name = f"indexer-end {self._assembly.index_dir.root}"
        threading.Thread(target=self._close_after_loop, name=name, daemon=True).start()

    def _close_after_loop(self) -> None:
        self._thread.join()
        try:
            # A second `close` may come while the thread of the first one still waits for the loop.
            with self._closing, index_errors(self._assembly.index_dir.root):
                self._vault_sync.close()
        except UnavailableError as error:  # the catalog is intact: the next start repairs the rest
            log.warning("the index could not be closed cleanly: %s", error)
        finally:
            self._lock.release()
