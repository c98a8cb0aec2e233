"""Background tasks that compact the vectors and merge keyword segments while edits continue."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, Work
from vault_indexer.errors import VaultIndexerError
from vault_indexer.index.derived import CompactionJob, DerivedIndices, MergeJob
from vault_indexer.index.workers.pool import Failed, JobWorker, Worker, WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

_RETRY_S = 60.0

_REST_S = 3.0
_RESTLESS_S = 60.0
"""After this long without a pause between edits, a merge is no longer postponed. Otherwise a commit would
have to merge in the end, and its edit would wait for the merge."""

Pool = WorkerPool[CompactionJob, Failed | None]


class CompactionTask(UpkeepTask[CompactionJob, VectorSnapshot]):
    """Writes a new vector base after many changes. A process writes the base, a thread loads it, and
    `accept` switches to it.

    Writing and loading take seconds each for a large vault. The switch only applies the changes made since.
    """

    def __init__(
        self,
        limits: ProcessLimits,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[], Worker[CompactionJob, Failed | None]] = JobWorker,
        is_due: Callable[[IndexWriter], bool] = lambda writer: writer.derived.worth_compacting,
    ) -> None:
        """`start` is called in the process. `is_due` returns whether a compaction should begin."""
        self._is_due = is_due
        self._start = start
        self._pool: Pool = WorkerPool(1, start, limits)
        self._retry = Retry(_RETRY_S, _RETRY_S, clock)

    def use_limits(self, limits: ProcessLimits) -> None:
        self._pool.become(WorkerPool(1, self._start, limits))

    def next_work(self, current: OpenGeneration) -> NextWork:
        if not self._retry.is_due or not self._is_due(current.writer):
            return None
        return _Compaction(self._pool, current.writer.derived)

    def accept(self, current: OpenGeneration, _job: CompactionJob, result: VectorSnapshot) -> None:
        current.writer.derived.adopt_base(result)

    def fail(self, _current: OpenGeneration, _job: CompactionJob, reason: str) -> None:
        log.info("vector compaction failed, will retry: %s", reason)
        self._retry.record_failure()


class _Compaction(Work[CompactionJob, Failed | None]):
    """A compaction in two stages: a process writes the base and ends to free its memory, then a thread loads
    the base."""

    def __init__(self, pool: Pool, derived: DerivedIndices) -> None:
        super().__init__(pool, derived.begin_compaction())
        self._load = derived.load_next_base
        self._loading: _Loading | None = None

    def result(self) -> tuple[object, object] | None:
        if self._loading is None:
            done = super().result()
            if done is None or done[1] is not None:
                return done
            # The memory of the process is needed for loading what it has written.
            self.pool.close()
            self._loading = _Loading(self._load)
        return None if self._loading.is_alive() else (self.job, self._loading.outcome)


class _Loading(threading.Thread):
    """A thread that loads a base. After it has ended, `outcome` is the base or the error."""

    def __init__(self, load: Callable[[], VectorSnapshot]) -> None:
        super().__init__(name="indexer-load-vectors", daemon=True)
        self.outcome: VectorSnapshot | Failed = Failed("the thread ended")
        self._load = load
        self.start()

    def run(self) -> None:
        try:
            self.outcome = self._load()
        except (VaultIndexerError, OSError, MemoryError) as error:
            self.outcome = Failed(str(error))


class MergeTask(UpkeepTask[MergeJob, None]):
    """Merges keyword segments in a separate process. A merge begins after some seconds without an edit, or if
    edits never pause."""

    def __init__(self, limits: ProcessLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool: WorkerPool[MergeJob, Failed | None] = WorkerPool(1, JobWorker, limits)
        self._clock = clock
        self._retry = Retry(_RETRY_S, _RETRY_S, clock)
        self._rested_at = 0.0
        self._restless_since: float | None = None

    def use_limits(self, limits: ProcessLimits) -> None:
        self._pool.become(WorkerPool(1, JobWorker, limits))

    def observe(self, *, is_idle: bool) -> None:
        """Postpones a merge after an edit by `_REST_S`, but by at most `_RESTLESS_S` in total."""
        if not is_idle:
            now = self._clock()
            if self._restless_since is None:
                self._restless_since = now
            rested = min(now + _REST_S, self._restless_since + _RESTLESS_S)
            self._rested_at = max(self._rested_at, rested)

    def next_work(self, current: OpenGeneration) -> NextWork:
        if self._clock() < self._rested_at or not self._retry.is_due:
            return None
        # The pause has come, so a later series of edits counts from its own beginning.
        self._restless_since = None
        if not current.writer.derived.needs_merge:
            return None
        return Work(self._pool, MergeJob(current.generation))

    def accept(self, current: OpenGeneration, _job: MergeJob, _result: None) -> None:
        # The process has committed the merge; searches use it from here on.
        current.writer.derived.publish()

    def fail(self, _current: OpenGeneration, _job: MergeJob, reason: str) -> None:
        log.info("merging keyword segments failed, will retry: %s", reason)
        self._retry.record_failure()
