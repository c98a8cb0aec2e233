"""The daemon as the service sees it: the loop in its thread, and answers that never wait for it."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.embedding_task import owing
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.loop import IndexLoop
from vault_indexer.daemon.loop_request import LoopRequest
from vault_indexer.daemon.recent_notices import Clock, RecentNotices
from vault_indexer.daemon.sync import VaultSync, status_of
from vault_indexer.errors import IndexUnusableError, UnavailableError, VaultIndexerError
from vault_indexer.model import Problem, Progress, RebuildReport, StatusReport
from vault_indexer.search import IndexReader
from vault_indexer.store import index_errors
from vault_indexer.text.counts import quantity
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

Report = Callable[[Progress], None]

_STOP_S = 1.5
_SWITCH_S = 0.001
"""A search gives the interpreter away a dozen times, at each call of SQLite or FAISS. While the loop indexes,
it gets it back after so many seconds; Python's default is five times as long."""


class DaemonSession:
    """Keeps one index for as long as it runs. Raises LockedError, VaultError, IndexUnusableError or
    DiskFullError when it cannot begin.

    Sets the interpreter's switch interval: the process is the daemon's. `clock` (seconds) says how long
    changes have been pending.
    """

    def __init__(self, assembly: Assembly, clock: Clock = time.monotonic) -> None:
        sys.setswitchinterval(min(_SWITCH_S, sys.getswitchinterval()))
        self._assembly = assembly
        self._passing = RecentNotices()
        assembly.index_dir.prepare()
        self._lock = IndexLock(assembly.index_dir.root, "the daemon")
        self._lock.acquire()
        try:
            self._kept = VaultSync(assembly, hold_deletes=True)
            watcher = VaultWatcher(assembly.vault, self._kept.rules, assembly.settings.watch)
            with index_errors(assembly.index_dir.root):
                reasons = self._kept.open_current()
            self._loop = IndexLoop(assembly, self._kept, watcher, self._lock, reasons, clock)
        except BaseException:
            self._lock.release()
            raise
        watcher.start()
        name = f"indexer-loop {assembly.index_dir.root}"
        self._thread = threading.Thread(target=self._loop.run, name=name, daemon=True)
        self._thread.start()

    @property
    def vault(self) -> Path:
        """The folder of the notes."""
        return self._assembly.vault

    def reader(self) -> IndexReader:
        """The index in force. Raises IndexUnusableError while the first one is being built."""
        current = self._kept.current
        if current is None:
            raise IndexUnusableError(f"the index is not ready yet: {self._build_text()}")
        return current.reader

    def pending(self) -> int:
        """Changes heard of, being read, failed, or held."""
        return self._loop.pending()

    def notices(self) -> tuple[str, ...]:
        """What a user should know."""
        told = [self._pause_text()] if self.paused else []
        told += [f"degraded: {self._kept.degraded}"] if self._kept.degraded else []
        if self._loop.building:
            told.append(f"a rebuild is under way: {self._build_text()}")
        if self._kept.current is not None:
            told.extend(owing(self._kept.current.writer.holder))
        told.extend(self._passing.to_show(tuple(self._loop.happened)))
        return (*told, *(text for text in (*self._troubles(), self._stall_text()) if text))

    @property
    def failure(self) -> VaultIndexerError | None:
        """Why the daemon has to end; None while it can go on."""
        return self._loop.failure

    @property
    def paused(self) -> bool:
        """Whether indexing rests at the user's word."""
        return self._loop.pause.active

    def pause(self, seconds: float | None) -> None:
        """Let indexing rest for so long, or until `resume`."""
        self._loop.pause.begin(seconds)
        with self._loop.changed:
            self._loop.changed.notify_all()  # nobody waits for what will not come

    def resume(self) -> None:
        """Let indexing go on."""
        self._loop.pause.end()

    def wait_fresh(self, deadline_s: float) -> bool:
        """Have the vault looked at now, and wait until what was found is in the index. False at once while
        indexing is paused."""
        end = time.monotonic() + deadline_s
        with self._loop.changed:
            if self.paused:
                return False
            # A scan that is under way may have passed a file before it changed: the one after it counts.
            wanted = self._loop.scans_begun + 1
            self._loop.watcher.request_scan("a fresh answer was asked for")
            while self._loop.scans_done < wanted:
                left = end - time.monotonic()
                if left <= 0 or not self._loop.changed.wait(left) or self.paused:
                    return False
        return not self._kept.degraded

    def rebuild(self, report: Report, *, refit: bool) -> RebuildReport:
        """Have the next generation built, and wait until it is in force."""
        request: LoopRequest[RebuildReport] = LoopRequest(report=report, refit=refit)
        self._loop.ask_build(request)
        return request.wait()

    def status(self) -> StatusReport:
        """The state of index and daemon."""
        mode, until = self._loop.watcher.mode, self._loop.pause.until
        return replace(
            status_of(self._kept, self._state(), self.pending()),
            watching=f"{mode.name}: {mode.reason}" if mode.reason else mode.name,
            detail=self._detail(),
            progress=self._loop.progress,
            paused=self.paused,
            paused_until=_utc(until) if until else "",
        )

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        """Compare everything with everything, between two edits."""
        request: LoopRequest[tuple[Problem, ...]] = LoopRequest(repair=repair)
        self._loop.ask_check(request)
        return request.wait()

    def close(self) -> None:
        """Stop within two seconds: a build is ended, an edit under way is finished or left out whole."""
        self._loop.stop()
        self._thread.join(_STOP_S)
        if self._thread.is_alive():
            return  # it may still write: the lock goes with this process
        try:
            with index_errors(self._assembly.index_dir.root):
                self._kept.close()
        except UnavailableError as error:  # the catalog is whole: what is missing is made at the next start
            log.warning("the index could not be closed cleanly: %s", error)
        finally:
            self._lock.release()

    def _troubles(self) -> tuple[str, ...]:
        return (*self._loop.troubles.texts, self._loop.backlog.trouble)

    def _detail(self) -> str:
        """All that is wrong, each once."""
        told = (self._kept.degraded, *self._loop.reasons, *self._troubles(), self._stall_text())
        return "; ".join(dict.fromkeys(filter(None, told)))

    def _stall_text(self) -> str:
        """That pending changes make no progress, and what they wait for; "" while they do."""
        seconds, pending = self._loop.stall.stalled_s(), self.pending()
        if not seconds or not pending or self.paused:
            return ""
        return (
            f"{quantity(pending, 'change')} pending for {seconds:.0f} s without progress: "
            f"waiting for {self._loop.awaited()}"
        )

    def _state(self) -> str:
        if self._kept.degraded or self._loop.troubles.any_degraded():
            return "degraded"
        if self.paused:
            return "paused"
        if self._loop.building:
            return "rebuilding" if self._kept.current else "building"
        if self._kept.current is None:
            return "unusable"
        return "indexing" if self._loop.left or self._loop.unsynced else "ready"

    def _pause_text(self) -> str:
        until, pending = self._loop.pause.until, self.pending()
        ends = f"until {_utc(until)}" if until else "until `indexer resume`"
        waiting = quantity(pending, "change") if pending else "no change"
        return f"indexing is paused {ends}: {waiting} pending"

    def _build_text(self) -> str:
        progress = self._loop.progress
        if self.paused:
            return self._pause_text()
        if progress is None:
            return "; ".join(self._loop.troubles.texts or self._loop.reasons) or "it starts"
        return f"{progress.notes:,} of {quantity(progress.total, 'note')}"


def _utc(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
