"""The keyword index is put in order when edits have come to rest, beside those that come nevertheless."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vault_indexer.index.merge_worker import MergeJob, MergeWorker
from vault_indexer.index.worker_pool import Died, WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

_REST_S = 3.0
_RETRY_S = 60.0


class MergeTask:
    """One merge at a time in a process that ends with it, for a merge takes memory. The thread that edits
    asks `step`, which never waits."""

    def __init__(self, limits: ProcessLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool: WorkerPool[MergeJob, str] = WorkerPool(1, MergeWorker, limits)
        self._clock = clock
        self._asked: IndexWriter | None = None
        self._not_before = 0.0

    @property
    def busy(self) -> bool:
        """Whether a merge is under way."""
        return self._asked is not None

    def step(self, live: IndexWriter | None, *, idle: bool) -> None:
        """Take in the merge that is done, or begin one if all has been `idle` for some seconds. Raises
        VaultIndexerError if the merged index cannot be read."""
        if self._asked is not None and self._asked is not live:
            self.end()  # its generation is not in force any more
        if live is not None and self._asked is not None:
            self._take(live)
        elif not idle:
            self._not_before = max(self._not_before, self._clock() + _REST_S)
        elif live is not None and self._clock() >= self._not_before and live.needs_merge:
            self._pool.begin(MergeJob(live.generation))
            self._asked = live

    def end(self) -> None:
        """End a merge that is under way: nothing of it counts."""
        self._asked = None
        self._pool.close()

    def _take(self, live: IndexWriter) -> None:
        done = self._pool.result()
        if done is None:
            return
        self.end()
        if done[1] == "":
            live.refresh()
        else:
            reason = done[1].reason if isinstance(done[1], Died) else done[1]
            log.info("keyword segments could not be merged, and are later: %s", reason)
            self._not_before = self._clock() + _RETRY_S
