"""Sessions of a single command that runs without a daemon."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from vault_indexer.config import Settings
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly, OpenGeneration, Report
from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.state import RecentNotices, missing_vectors_notice
from vault_indexer.daemon.sync import EVERYTHING, VaultSync, status_of
from vault_indexer.errors import (
    DaemonError,
    IndexUnusableError,
    LockedError,
    ProviderError,
    UnavailableError,
    VaultIndexerError,
)
from vault_indexer.model import NoteChanges, Problem, Progress, RebuildReport, StatusReport
from vault_indexer.search import IndexReader
from vault_indexer.store import index_errors
from vault_indexer.text.phrases import quantity

log = logging.getLogger("vault_indexer.daemon")

WITHOUT_DAEMON = "no daemon is running; without a daemon, the index is updated only while a command runs"


class _SessionWithoutLoop:
    """Base class of the sessions whose process runs no loop. Nothing can be paused: an attempt raises
    `refusal`."""

    def __init__(self, assembly: Assembly, refusal: VaultIndexerError) -> None:
        self._assembly = assembly
        self._refusal = refusal

    @property
    def vault(self) -> Path:
        return self._assembly.vault

    @property
    def settings(self) -> Settings:
        return self._assembly.settings

    @property
    def llm_cache(self) -> Path:
        return self._assembly.llm_cache

    def changes(self, before: int, now: int) -> NoteChanges:  # noqa: ARG002 - nobody follows such an index
        return NoteChanges(now, more=True)

    def missing(self) -> int:
        """Returns 0: a build ends before the index is searched."""
        return 0

    @property
    def failure(self) -> VaultIndexerError | None:
        """Always None: errors are raised."""
        return None

    @property
    def paused(self) -> bool:
        return False

    def _refuse(self) -> NoReturn:
        raise self._refusal.with_traceback(None)  # otherwise the traceback grows with each raise

    def pause(self, seconds: float | None) -> None:  # noqa: ARG002 - refused
        self._refuse()

    def resume(self) -> None:
        self._refuse()

    def pause_upgrade(self, paused: bool) -> None:  # noqa: ARG002 - refused
        self._refuse()


class LocalSession(_SessionWithoutLoop):
    """The session behind VaultService if no daemon runs. It opens the index in this process and locks it.

    `open` builds a missing index, applies the changes of the vault, and computes missing vectors. After that
    the index changes only when a method is called. Any thread may call the methods; calls that write the
    index run one at a time. Errors are raised to the caller and leave the index at its last commit.
    """

    def __init__(self, assembly: Assembly) -> None:
        super().__init__(assembly, DaemonError(WITHOUT_DAEMON))
        self._recent = RecentNotices()
        self._done: list[str] = []
        self._lock = IndexLock(assembly.index_dir.root, "one command")
        self._vault_sync: VaultSync | None = None
        self._notices: list[str] = []
        self._rebuilt: tuple[Problem, ...] = ()
        self._fault = ""
        self._busy = threading.Lock()

    def open(self, report: Report, *, build: bool) -> None:
        """Opens the index and brings it up to date. Without `build`, steps that may take long are left out.
        Raises LockedError if another process writes the index, DiskFullError if there is no room for it, and
        IndexUnusableError if there is no index and `build` is false."""
        with self._index_errors():
            existed = self._assembly.index_dir.current() is not None
            vault_sync, reasons = self.open_as_is()
            damaged = existed and vault_sync.current is None
            if vault_sync.current is not None and not (reasons and build):
                vault_sync.sync(EVERYTHING)
                reasons = vault_sync.current.reasons  # a new file can be one
            if reasons and build and vault_sync.has_unconfirmed_losses():
                self._notices.append(f"not rebuilt yet: {'; '.join(reasons)}")
            elif reasons and build:
                self._switch(report, recompute_weights=vault_sync.current is None)
                if existed:
                    self._done.append(f"Index rebuilt: {'; '.join(reasons)}")
                if damaged:
                    self._rebuilt = tuple(Problem("catalog", "rebuilt", reason) for reason in reasons)
            elif vault_sync.current is None:
                raise IndexUnusableError(f"{reasons[0]}: run `indexer rebuild`")
            if build:
                self._complete(report)
            if build and not existed and vault_sync.current is not None:
                with vault_sync.current.writer.holder.lease() as snapshot:
                    notes = quantity(snapshot.catalog.counts().notes, "note")
                self._done.append(f"Indexed {notes} (first use).")

    def open_as_is(self) -> tuple[VaultSync, tuple[str, ...]]:
        """Takes the lock and opens the existing index, if any. The returned strings are the reasons for a
        rebuild."""
        self._assembly.index_dir.prepare()
        self._lock.acquire()
        self._vault_sync = VaultSync(self._assembly, live=False)
        with self._index_errors():
            return self._vault_sync, self._vault_sync.open_current()

    def reader(self) -> IndexReader:
        return self._current().reader

    def pending(self) -> int:
        """Returns the number of deletions that are held back until they are confirmed."""
        return self._open().dirty.held

    def notices(self) -> tuple[str, ...]:
        vault_sync = self._open()
        done = self._recent.to_show(self._happened(vault_sync))
        missing = missing_vectors_notice(vault_sync.current.writer.holder) if vault_sync.current else ()
        degraded = f"Warning: {vault_sync.degraded}" if vault_sync.degraded else ""
        faults = (degraded, vault_sync.rules.fault, self._fault)
        return (*self._notices, *done, *missing, *filter(None, faults))

    def _happened(self, vault_sync: VaultSync) -> list[str]:
        current = vault_sync.current
        if current is None:
            return self._done
        return [*self._done, *current.writer.derived.healed, *filter(None, [current.advice])]

    def wait_fresh(self, deadline_s: float) -> bool:  # noqa: ARG002 - a scan has no deadline
        with self._busy, self._index_errors():
            self._open().sync(EVERYTHING)
            self._complete()
        return True

    def rebuild(self, report: Report, options: RebuildOptions) -> RebuildReport:
        with self._busy, self._index_errors():
            if not options.force:
                self._open().check_losses()
            done = self._switch(report, recompute_weights=options.refit, better=options.better)
            self._complete(report)
            return done

    def status(self) -> StatusReport:
        """Returns the state of the index. `detail` lists what has been done to it since it was opened."""
        vault_sync = self._open()
        report = status_of(vault_sync, "degraded" if vault_sync.degraded else "ready", self.pending())
        return replace(report, detail="; ".join(filter(None, (report.detail, *self._happened(vault_sync)))))

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        with self._busy, self._index_errors():
            vault_sync = self._open()
            found = (*self._rebuilt, *vault_sync.verify(repair=repair))
            # Reported once: the next check is about the new index.
            self._rebuilt = ()
            if repair and vault_sync.degraded:
                # Only a second scan, some seconds after the first, can confirm losses.
                time.sleep(max(0.0, vault_sync.confirm_at - time.monotonic()))
                vault_sync.sync(EVERYTHING)
            if repair and vault_sync.damaged:
                self._switch(lambda _progress: None, recompute_weights=False)
            if repair:
                self._complete()
            return found

    def close(self) -> None:
        """Closes the index and releases the lock. Data that cannot be written is recreated when the index is
        opened again."""
        try:
            if self._vault_sync is not None:
                with self._index_errors():
                    self._vault_sync.close()
        except UnavailableError as error:
            log.warning("the index could not be closed cleanly: %s", error)
        finally:
            self._lock.release()

    def _index_errors(self) -> AbstractContextManager[None]:
        return index_errors(self._assembly.index_dir.root)

    def _switch(self, report: Report, *, recompute_weights: bool, better: bool = False) -> RebuildReport:
        generation, result = self._assembly.build_next(
            report, recompute_weights=recompute_weights, better=better
        )
        self._open().activate(generation, result)
        return result

    def _complete(self, report: Report = lambda _progress: None) -> None:
        """Computes the missing vectors. A failure is only recorded, because search by words and links works
        without them."""
        current, self._fault = self._open().current, ""
        if current is None or not current.writer.missing_vectors:
            return
        started = time.perf_counter()
        with current.writer.holder.lease() as snapshot:
            counts = snapshot.catalog.counts()

        def report_remaining(remaining: int) -> None:
            seconds = time.perf_counter() - started
            made = counts.chunks - remaining
            notes = counts.notes * made // counts.chunks
            report(Progress("vectors", notes, counts.notes, made, seconds))

        try:
            current.writer.complete(report_remaining)
        except ProviderError as error:
            self._fault = f"embedding failed: {error}"

    def _open(self) -> VaultSync:
        if self._vault_sync is None:
            raise IndexUnusableError("the index is not open")
        return self._vault_sync

    def _current(self) -> OpenGeneration:
        current = self._open().current
        if current is None:
            raise IndexUnusableError("there is no index yet: run `indexer rebuild`")
        return current


class ReadOnlySession(_SessionWithoutLoop):
    """A session for an index that another process is writing. It searches the index but never writes it."""

    def __init__(self, assembly: Assembly, busy: LockedError) -> None:
        super().__init__(assembly, busy)
        generation = assembly.index_dir.current()
        if generation is None:
            raise busy
        self._generation = generation
        self._opened = assembly.open_to_read(generation)

    def reader(self) -> IndexReader:
        return self._opened

    def pending(self) -> int:
        return 0

    def notices(self) -> tuple[str, ...]:
        """Returns notices that recent changes may be missing, unless a daemon follows them, and vectors."""
        missing = missing_vectors_notice(self._opened.holder)
        # A daemon that does not answer may have missed changes as well.
        with suppress(UnavailableError):
            if read_daemon(self._assembly.index_dir.root) is not None:
                return missing
        return ("the last changes may be missing: another command updates the index", *missing)

    def wait_fresh(self, deadline_s: float) -> bool:  # noqa: ARG002 - nothing to wait for
        """Returns False: this process cannot bring the index up to date."""
        return False

    def rebuild(self, report: Report, options: RebuildOptions) -> RebuildReport:  # noqa: ARG002 - refused
        self._refuse()

    def status(self) -> StatusReport:
        with self._opened.holder.lease() as snapshot:
            return StatusReport(
                vault=str(self._assembly.vault),
                index_dir=str(self._assembly.index_dir.root),
                state="in use",
                generation=snapshot.generation,
                seq=snapshot.seq,
                pending=0,
                counts=snapshot.catalog.counts(),
                vectors_owed=snapshot.missing_vectors,
                skipped=snapshot.catalog.skipped_files(),
                detail=str(self._refusal),
            )

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:  # noqa: ARG002 - refused
        self._refuse()

    def close(self) -> None:
        self._opened.holder.publish(None)
