"""Keeping an index for one command, without a daemon."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from vault_indexer.daemon.assembly import Assembly, OpenGeneration
from vault_indexer.daemon.keep import EVERYTHING, KeptIndex, status_of
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.model import Problem, Progress, RebuildReport, StatusReport
from vault_indexer.search.opened import OpenIndex

Report = Callable[[Progress], None]


class LocalKeeper:
    """Holds the lock for as long as it lives. `open` builds what is missing and applies what has changed."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._lock = IndexLock(assembly.index_dir.root, "one command")
        self._kept: KeptIndex | None = None
        self._notices: list[str] = []
        self._rebuilt: tuple[Problem, ...] = ()
        self._busy = threading.Lock()

    @property
    def vault(self) -> Path:
        """The folder of the notes."""
        return self._assembly.vault

    def open(self, report: Report, *, build: bool) -> None:
        """Raises LockedError if another process writes the index, IndexUnusableError if there is none and
        `build` is false."""
        existed = self._assembly.index_dir.current() is not None
        kept, reasons = self.open_as_is()
        damaged = existed and kept.current is None
        if reasons and build and kept.in_doubt():
            self._notices.extend(f"not rebuilt yet: {reason}" for reason in reasons)
        elif reasons and build:
            self._switch(report, refit=kept.current is None)
            self._notices.extend(f"rebuilt: {reason}" for reason in reasons)
            if damaged:
                self._rebuilt = tuple(Problem("catalog", "rebuilt", reason) for reason in reasons)
        elif kept.current is None:
            raise IndexUnusableError(f"{reasons[0]}: run `indexer rebuild`")
        else:
            kept.sync(EVERYTHING)

    def open_as_is(self) -> tuple[KeptIndex, tuple[str, ...]]:
        """Take the lock and open what there is, if anything; the texts say why a rebuild is needed."""
        self._assembly.index_dir.prepare()
        self._lock.acquire()
        self._kept = KeptIndex(self._assembly, hold_deletes=False)
        return self._kept, self._kept.open_current()

    def opened(self) -> OpenIndex:
        """The index in force."""
        return self._current().opened

    def pending(self) -> int:
        """Deletions that are not yet believed."""
        return len(self._open().hold)

    def notices(self) -> tuple[str, ...]:
        """What was done, and what is wrong with the vault."""
        kept = self._open()
        healed = kept.current.live.healed if kept.current else []
        return (*self._notices, *healed, *((f"degraded: {kept.degraded}",) if kept.degraded else ()))

    def wait_fresh(self, deadline_s: float) -> bool:  # noqa: ARG002 - a scan has no deadline
        """Look at the vault now."""
        with self._busy:
            self._open().sync(EVERYTHING)
        return True

    def rebuild(self, report: Report, *, refit: bool) -> RebuildReport:
        """Build here and now."""
        with self._busy:
            return self._switch(report, refit=refit)

    def status(self) -> StatusReport:
        """The state of the index."""
        kept = self._open()
        return status_of(kept, "degraded" if kept.degraded else "ready", self.pending())

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:
        """Compare everything with everything."""
        with self._busy:
            kept = self._open()
            found = (*self._rebuilt, *kept.verify(mend=repair))
            self._rebuilt = ()
            if repair and kept.degraded:
                time.sleep(max(0.0, kept.look_again_at - time.monotonic()))  # losses need a second look
                kept.sync(EVERYTHING)
            if repair and kept.damaged:
                self._switch(_unseen, refit=False)
            return found

    def close(self) -> None:
        """Close the index and release the lock."""
        if self._kept is not None:
            self._kept.close()
        self._lock.release()

    def _switch(self, report: Report, *, refit: bool) -> RebuildReport:
        generation, result = self._assembly.build_next(report, refit=refit)
        self._open().adopt(generation)
        return result

    def _open(self) -> KeptIndex:
        if self._kept is None:
            raise IndexUnusableError("the index is not open")
        return self._kept

    def _current(self) -> OpenGeneration:
        current = self._open().current
        if current is None:
            raise IndexUnusableError("there is no index yet: run `indexer rebuild`")
        return current


def _unseen(_progress: Progress) -> None:
    """Nobody watches this rebuild."""


class ReadingKeeper:
    """An index that another process is writing: it is searched as it is, and never written."""

    def __init__(self, assembly: Assembly, busy: LockedError) -> None:
        self._assembly = assembly
        self._busy = busy
        generation = assembly.index_dir.current()
        if generation is None:
            raise busy
        self._generation = generation
        self._opened = assembly.open_to_read(generation)

    @property
    def vault(self) -> Path:
        """The folder of the notes."""
        return self._assembly.vault

    def opened(self) -> OpenIndex:
        """The index as it was when this was made."""
        return self._opened

    def pending(self) -> int:
        """Unknown here: who writes the index knows."""
        return 0

    def notices(self) -> tuple[str, ...]:
        """Says that changes may be missing."""
        return (f"{self._busy}: the last changes may be missing",)

    def wait_fresh(self, deadline_s: float) -> bool:  # noqa: ARG002 - nothing to wait for
        """Freshness cannot be promised."""
        return False

    def rebuild(self, report: Report, *, refit: bool) -> RebuildReport:  # noqa: ARG002 - refused
        """Refused: raises LockedError."""
        raise self._busy

    def status(self) -> StatusReport:
        """The state on disk."""
        with self._opened.holder.lease() as snapshot:
            return StatusReport(
                vault=str(self._assembly.vault),
                index_dir=str(self._assembly.index_dir.root),
                state="in use",
                generation=snapshot.generation,
                seq=snapshot.seq,
                pending=0,
                counts=snapshot.catalog.counts(),
                skipped=snapshot.catalog.skipped(),
                detail=str(self._busy),
            )

    def verify(self, *, repair: bool) -> tuple[Problem, ...]:  # noqa: ARG002 - refused
        """Refused: raises LockedError."""
        raise self._busy

    def close(self) -> None:
        """Close the snapshot."""
        self._opened.holder.publish(None)
