"""Merges segments of the keyword index when no edit has come for some seconds, or edits never pause."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, Work
from vault_indexer.index.compaction import MergeJob
from vault_indexer.index.workers.job import Failed, JobWorker
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

_REST_S = 3.0
_RESTLESS_S = 60.0
"""Edits that never pause for so long put a merge off no more: a commit would have to do it in the end, and
whoever made the edit would wait for it."""

_RETRY_S = 60.0


class MergeTask(UpkeepTask[MergeJob, None]):
    """One merge at a time, in a process of its own."""

    def __init__(self, limits: ProcessLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool: WorkerPool[MergeJob, Failed | None] = WorkerPool(1, JobWorker, limits)
        self._clock = clock
        self._retry = Retry(_RETRY_S, _RETRY_S, clock)
        self._rested_at = 0.0
        self._restless_since: float | None = None

    def use_limits(self, limits: ProcessLimits) -> None:
        """The next process has these."""
        self._pool.become(WorkerPool(1, JobWorker, limits))

    def observe(self, *, is_idle: bool) -> None:
        """An edit puts a merge off for some seconds, or until a minute of edits is over."""
        if not is_idle:
            now = self._clock()
            if self._restless_since is None:
                self._restless_since = now
            rested = min(now + _REST_S, self._restless_since + _RESTLESS_S)
            self._rested_at = max(self._rested_at, rested)

    def next_work(self, current: OpenGeneration) -> NextWork:
        if self._clock() < self._rested_at or not self._retry.is_due:
            return None
        self._restless_since = None
        if not current.writer.derived.needs_merge:
            return None
        return Work(self._pool, MergeJob(current.generation))

    def accept(self, current: OpenGeneration, _job: MergeJob, _result: None) -> None:
        """Publish what was merged."""
        current.writer.derived.publish()

    def fail(self, _current: OpenGeneration, _job: MergeJob, reason: str) -> None:
        log.info("keyword segments could not be merged, and will be later: %s", reason)
        self._retry.record_failure()
