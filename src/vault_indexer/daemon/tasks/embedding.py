"""Makes the vectors that are owed in small portions, while nothing else is to be done."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.exclusive_slot import ExclusiveSlot
from vault_indexer.daemon.tasks.portions import Portions
from vault_indexer.daemon.tasks.upkeep import UpkeepTask, Work, spare_work
from vault_indexer.index.jobs import Embedded, EmbedJob
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.writer import IndexWriter
from vault_indexer.store import SnapshotHolder

log = logging.getLogger("vault_indexer.daemon")

_PORTION_S = 0.5
"""What a portion aims to take: so long an edit's own vectors wait at the most, and so much a crash costs."""

_FIRST_TEXTS = 16
_MOST_TEXTS = 4096
_RETRY_S = 1.0
_RETRY_LATEST_S = 300.0


class EmbeddingTask(UpkeepTask):
    """One portion at a time, made in the generation's spare process.

    A portion that fails is tried again later, and smaller, until the one text that the model cannot take is
    alone: then that comes last. Nothing is lost by a failure; `fault` names it.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, slot: ExclusiveSlot | None = None
    ) -> None:
        """`slot` is had for each portion; it is shared with other vaults."""
        self._slot = slot or ExclusiveSlot()
        self._portions = Portions(
            _FIRST_TEXTS, _MOST_TEXTS, _PORTION_S, Retry(_RETRY_S, _RETRY_LATEST_S, clock)
        )

    @property
    def fault(self) -> str:
        """Why the last portion failed."""
        return self._portions.fault

    def begin(self, current: OpenGeneration) -> Work | None:
        """Implements UpkeepTask."""
        if not current.writer.owed:
            self._portions.fault = ""
            return None
        if not self._portions.retry.is_due or not self._slot.try_acquire(self):
            return None
        job = current.writer.next_owed(self._portions.size)
        return spare_work(current, job, partial(self._slot.release, self))

    def accept(self, current: OpenGeneration, job: object, outcome: object) -> None:
        """Store the vectors. Where they cannot be written they are made again later."""
        assert isinstance(job, EmbedJob)
        writer = current.writer
        if isinstance(outcome, Failed | Died):
            self._record_failure(writer, job, outcome.reason)
            return
        assert isinstance(outcome, Embedded)
        try:
            writer.put_vectors(outcome.vectors)
        except BaseException:
            self._portions.retry.record_failure()
            raise
        if writer.owes(job):
            self._record_failure(writer, job, "the index contains other texts by now")
            return
        self._portions.record_success(outcome.seconds)
        if not writer.owed:
            current.spare.close()  # the model takes memory
            log.info("all chunks have their vectors")

    def _record_failure(self, writer: IndexWriter, job: EmbedJob, reason: str) -> None:
        self._portions.record_failure(len(job.keys), f"embedding failed, will retry: {reason}")
        if len(job.keys) == 1:
            writer.postpone(job)


def owed_vectors_notice(holder: SnapshotHolder) -> tuple[str, ...]:
    """What a search should say while chunks have no vector yet; nothing once all have."""
    with holder.lease() as snapshot:
        if not snapshot.owed:
            return ()
        total = max(len(snapshot.keywords), snapshot.owed)
    return (f"semantic search is incomplete: {snapshot.owed:,} of {total:,} chunks have no embedding yet",)
