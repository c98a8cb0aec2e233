"""Makes the vectors that are owed in small portions, while nothing else is to be done."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.turn import Turn
from vault_indexer.index.job import Died, Failed
from vault_indexer.index.jobs import Embedded, EmbedJob, Job, Outcome
from vault_indexer.index.writer import IndexWriter
from vault_indexer.store import SnapshotHolder

log = logging.getLogger("vault_indexer.daemon")

_PORTION_S = 0.5
"""What a portion aims to take: so long an edit's own vectors wait at the most, and so much a crash costs."""

_FIRST_TEXTS = 16
_MOST_TEXTS = 4096
_RETRY_S = 1.0
_RETRY_LATEST_S = 300.0


class EmbeddingTask:
    """Implements BackgroundTask: one portion at a time, made in the generation's spare process.

    A portion that fails is tried again later, and smaller, until the one text that the model cannot take is
    alone: then that comes last. Nothing is lost by a failure; `trouble` names it.
    """

    def __init__(
        self,
        vault_sync: VaultSync,
        clock: Callable[[], float] = time.monotonic,
        turn: Turn | None = None,
    ) -> None:
        """`turn` is had for each portion; it is shared with other vaults."""
        self.trouble = ""
        self._turn = turn or Turn()
        self._vault_sync = vault_sync
        self._clock = clock
        self._texts = _FIRST_TEXTS
        self._retry_s = _RETRY_S
        self._not_before = 0.0
        self._begun_for: IndexWriter | None = None

    @property
    def busy(self) -> bool:
        """Whether a portion is under way."""
        return self._begun_for is not None

    def step(self, *, idle: bool) -> None:
        """Store the portion that is done, and begin the next if the loop is `idle`. Raises VaultIndexerError
        or OSError if vectors cannot be written: they are made again later."""
        current = self._vault_sync.current
        if current is None or (self.busy and self._begun_for is not current.writer):
            self.end()  # its generation is closed, and its process ended
        if current is None:
            return
        if self.busy:
            done = current.spare.result()
            if done is None:
                return
            self.end()
            self._store(current, *done)
        if not current.writer.owed:
            self.trouble = ""
        elif idle and self._clock() >= self._not_before and self._turn.take(self):
            current.spare.begin(current.writer.next_owed(self._texts))
            self._begun_for = current.writer

    def end(self) -> None:
        """Forget the portion under way. Its process ends with the generation."""
        self._begun_for = None
        self._turn.give_back(self)

    def _store(self, current: OpenGeneration, job: Job, result: Outcome | Died) -> None:
        assert isinstance(job, EmbedJob)
        if isinstance(result, Failed | Died):
            self._record_failure(current.writer, job, result.reason)
            return
        assert isinstance(result, Embedded)
        try:
            current.writer.put_vectors(result.vectors)
        except BaseException:
            self._wait()
            raise
        if current.writer.owes(job):
            self._record_failure(current.writer, job, "the index contains other texts by now")
            return
        self._texts = _next_size(self._texts, result.seconds)
        self._retry_s, self.trouble = _RETRY_S, ""
        if not current.writer.owed:
            current.spare.close()  # the model takes memory
            log.info("all chunks have their vectors")

    def _record_failure(self, writer: IndexWriter, job: EmbedJob, reason: str) -> None:
        self.trouble = f"embedding failed, will retry: {reason}"
        log.warning("%s", self.trouble)
        if len(job.keys) == 1:
            writer.postpone(job)
        self._texts = max(1, len(job.keys) // 2)
        self._wait()

    def _wait(self) -> None:
        self._not_before = self._clock() + self._retry_s
        self._retry_s = min(2 * self._retry_s, _RETRY_LATEST_S)


def owed_vectors_notice(holder: SnapshotHolder) -> tuple[str, ...]:
    """What a search should say while chunks have no vector yet; nothing once all have."""
    with holder.lease() as snapshot:
        if not snapshot.owed:
            return ()
        total = max(len(snapshot.keywords), snapshot.owed)
    return (f"semantic search is incomplete: {snapshot.owed:,} of {total:,} chunks have no embedding yet",)


def _next_size(texts: int, seconds: float) -> int:
    """So many that they take as long as they should; at most twice as many, or half, at a time."""
    factor = min(2.0, max(0.5, _PORTION_S / max(seconds, 1e-6)))
    return max(1, min(_MOST_TEXTS, round(texts * factor)))
