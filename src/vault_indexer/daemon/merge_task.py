"""Merges segments of the keyword index when no edit has come for some seconds, or edits never pause."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.job import Died, Failed, JobWorker
from vault_indexer.index.merging import MergeJob
from vault_indexer.index.worker_pool import WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

_REST_S = 3.0
_RESTLESS_S = 60.0
"""Edits that never pause for so long put a merge off no more: a commit would have to do it in the end, and
whoever made the edit would wait for it."""

_RETRY_S = 60.0


class MergeTask:
    """Implements BackgroundTask: one merge at a time, in a process that ends with it because a merge takes
    memory."""

    trouble = ""
    """A merge that fails is only logged: the index answers without it."""

    def __init__(
        self,
        vault_sync: VaultSync,
        limits: ProcessLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vault_sync = vault_sync
        self._pool: WorkerPool[MergeJob, Failed | None] = WorkerPool(1, JobWorker, limits)
        self._clock = clock
        self._begun_for: IndexWriter | None = None
        self._not_before = 0.0
        self._restless_since: float | None = None

    @property
    def busy(self) -> bool:
        """Whether a merge is under way."""
        return self._begun_for is not None

    def step(self, *, idle: bool) -> None:
        """Publish the merge that is done, or begin one if the loop has been `idle` for some seconds, or is so
        for a moment after a minute of edits. Raises VaultIndexerError if the merged index cannot be read."""
        current = self._vault_sync.current
        writer = current.writer if current else None
        if self._begun_for is not None and self._begun_for is not writer:
            self.end()  # its generation is no longer the active one
        if writer is not None and self._begun_for is not None:
            self._publish(writer)
        elif not idle:
            self._wait_for_rest(self._clock())
        elif writer is not None and self._clock() >= self._not_before:
            self._restless_since = None
            if writer.derived.needs_merge:
                self._pool.begin(MergeJob(writer.generation))
                self._begun_for = writer

    def end(self) -> None:
        """End the merge under way: nothing of it counts."""
        self._begun_for = None
        self._pool.close()

    def _wait_for_rest(self, now: float) -> None:
        if self._restless_since is None:
            self._restless_since = now
        rested = min(now + _REST_S, self._restless_since + _RESTLESS_S)
        self._not_before = max(self._not_before, rested)

    def _publish(self, writer: IndexWriter) -> None:
        done = self._pool.result()
        if done is None:
            return
        self.end()
        if isinstance(done[1], Failed | Died):
            log.info("keyword segments could not be merged, and will be later: %s", done[1].reason)
            self._not_before = self._clock() + _RETRY_S
        else:
            writer.derived.publish()
