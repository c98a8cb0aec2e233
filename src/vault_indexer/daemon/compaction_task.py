"""Has a new base of the vectors made beside the edits, when many have changed since the last."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from vault_indexer.daemon.sync import VaultSync
from vault_indexer.errors import VaultIndexerError
from vault_indexer.index.compaction import CompactionJob
from vault_indexer.index.job import Died, Failed, JobWorker
from vault_indexer.index.worker_pool import Worker, WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

_RETRY_S = 60.0


def _is_due(writer: IndexWriter) -> bool:
    return writer.derived.worth_compacting


class CompactionTask:
    """Implements BackgroundTask: a process writes the base, a thread loads it, and `step` switches to it.

    Each of the two takes seconds for a large vault; the switch takes what the changes since take. The process
    ends with its base, because that takes memory.
    """

    trouble = ""
    """A compaction that fails is only logged: the index answers without it."""

    def __init__(
        self,
        vault_sync: VaultSync,
        limits: ProcessLimits,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[], Worker[CompactionJob, Failed | None]] = JobWorker,
        is_due: Callable[[IndexWriter], bool] = _is_due,
    ) -> None:
        """`start` is called in the process; `is_due` says when one should be begun."""
        self._is_due = is_due
        self._vault_sync = vault_sync
        self._pool: WorkerPool[CompactionJob, Failed | None] = WorkerPool(1, start, limits)
        self._clock = clock
        self._begun_for: IndexWriter | None = None
        self._loading: _Loading | None = None
        self._not_before = 0.0

    @property
    def busy(self) -> bool:
        """Whether a base is being made."""
        return self._begun_for is not None

    def step(self, *, idle: bool) -> None:
        """Switch to the base that is there, or begin one if the loop is `idle`. Raises VaultIndexerError or
        OSError if the index cannot be written."""
        current = self._vault_sync.current
        writer = current.writer if current else None
        if self._begun_for is not None and self._begun_for is not writer:
            self.end()  # its generation is no longer the active one
        if writer is None:
            return
        if self._loading is not None:
            self._adopt(writer, self._loading)
        elif self._begun_for is not None:
            self._load(writer)
        elif idle and self._clock() >= self._not_before and self._is_due(writer):
            self._pool.begin(writer.derived.begin_compaction())
            self._begun_for = writer

    def end(self) -> None:
        """End the process, and drop what it has written or the thread is loading: nothing of it counts."""
        self._begun_for = self._loading = None
        self._pool.close()

    def _load(self, writer: IndexWriter) -> None:
        done = self._pool.result()
        if done is None:
            return
        self._pool.close()
        if isinstance(done[1], Failed | Died):
            self._fail(done[1].reason)
        else:
            self._loading = _Loading(writer.derived.load_next_base)

    def _adopt(self, writer: IndexWriter, loading: _Loading) -> None:
        if loading.is_alive():
            return
        self.end()
        if loading.made is not None:
            writer.derived.adopt_base(loading.made)
        else:
            self._fail(loading.error)

    def _fail(self, reason: str) -> None:
        self.end()
        self._not_before = self._clock() + _RETRY_S
        log.info("vectors could not be compacted, and will be later: %s", reason)


class _Loading(threading.Thread):
    """Loads a base; once it has ended, that is in `made`, or what is wrong with it in `error`."""

    def __init__(self, load: Callable[[], VectorSnapshot]) -> None:
        super().__init__(name="indexer-load-vectors", daemon=True)
        self.made: VectorSnapshot | None = None
        self.error = "the thread ended"
        self._load = load
        self.start()

    def run(self) -> None:
        """In the thread."""
        try:
            self.made = self._load()
        except (VaultIndexerError, OSError, MemoryError) as error:
            self.error = str(error)
