"""Makes missing vectors in small portions, while nothing else is to be done."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.upkeep import NextWork, UpkeepTask, spare_work
from vault_indexer.index.jobs import Embedded, EmbedJob
from vault_indexer.index.workers.pool import Slots
from vault_indexer.store import SnapshotHolder

# Vectors that are made in portions of a few texts, while nothing else is to be done.


log = logging.getLogger("vault_indexer.daemon")


class PortionTask(UpkeepTask[EmbedJob, Embedded]):
    """Embeds portions of texts, sized to take `aim_s` seconds each, at most `most` texts.

    A portion that fails is tried again later, and smaller, until the one text that the model cannot take is
    alone: that one is left out. Nothing is lost by a failure; `fault` names it. `size` is that of the next
    portion. `slot` is had for each portion; it is shared with other vaults.
    """

    what = ""
    """What fails."""

    fault = ""
    """Why the last portion failed."""

    def __init__(self, size: int, most: int, aim_s: float, retry: Retry, slot: Slots | None) -> None:
        self.size = size
        self.retry = retry
        self.slot = slot
        self._most = most
        self._aim_s = aim_s

    @abstractmethod
    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        """Keep the vectors of a portion; returns why they do not serve (""). Raises as `accept`."""

    @abstractmethod
    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        """The model cannot take the one text of this job."""

    def accept(self, current: OpenGeneration, job: EmbedJob, result: Embedded) -> None:
        """Keep the vectors, which are made again if they cannot be written. The next portion is at most twice
        as large, or half."""
        try:
            reason = self.store(current, job, result.vectors)
        except BaseException:
            self.retry.record_failure()
            raise
        if reason:
            self.fail(current, job, reason)
            return
        factor = min(2.0, max(0.5, self._aim_s / max(result.seconds, 1e-6)))
        self.size = max(1, min(self._most, round(self.size * factor)))
        self.retry.reset()
        self.fault = ""

    def fail(self, current: OpenGeneration, job: EmbedJob, reason: str) -> None:
        self.fault = f"{self.what}, will retry: {reason}"
        log.warning("%s", self.fault)
        self.size = max(1, len(job.keys) // 2)
        self.retry.record_failure()
        if len(job.keys) == 1:
            self.leave_out(current, job)


_PORTION_S = 0.5
"""What a portion aims to take: so long an edit's own vectors wait at the most, and so much a crash costs."""

_FIRST_TEXTS = 16
_MOST_TEXTS = 4096
_RETRY_S = 1.0
_RETRY_LATEST_S = 300.0


class EmbeddingTask(PortionTask):
    """One portion at a time, made in the generation's spare process. The text that the model cannot take
    comes last."""

    what = "embedding failed"

    def __init__(self, clock: Callable[[], float] = time.monotonic, slot: Slots | None = None) -> None:
        retry = Retry(_RETRY_S, _RETRY_LATEST_S, clock)
        super().__init__(_FIRST_TEXTS, _MOST_TEXTS, _PORTION_S, retry, slot)

    def next_work(self, current: OpenGeneration) -> NextWork:
        if not current.writer.missing_vectors:
            self.fault = ""
            return None
        return spare_work(current, current.writer.next_embed_job(self.size)) if self.retry.is_due else None

    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        current.writer.put_vectors(vectors)
        if current.writer.is_waiting_for(job):
            return "the index contains other texts by now"
        if not current.writer.missing_vectors:
            log.info("all chunks have their vectors")
        return ""

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        current.writer.postpone(job)


def missing_vectors_notice(holder: SnapshotHolder) -> tuple[str, ...]:
    """What a search should say while chunks have no vector yet; nothing once all have."""
    with holder.lease() as snapshot:
        if not snapshot.missing_vectors:
            return ()
        missing = snapshot.missing_vectors
        total = max(len(snapshot.keywords), missing)
    return (f"semantic search is incomplete: {missing:,} of {total:,} chunks have no embedding yet",)
