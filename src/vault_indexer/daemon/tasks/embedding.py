"""Background embedding: computes missing vectors in small portions while the daemon is idle."""

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

log = logging.getLogger("vault_indexer.daemon")


_PORTION_S = 0.5
"""The target duration of a portion. An edit's own vectors wait for at most this long, and a crash loses at
most this much work."""

_FIRST_TEXTS = 16
_MOST_TEXTS = 4096
_RETRY_S = 1.0
_RETRY_LATEST_S = 300.0


class PortionTask(UpkeepTask[EmbedJob, Embedded]):
    """Embeds portions of at most `most` texts, sized to take `aim_s` seconds each.

    A portion that fails is retried later at half the size, until the text that the model cannot embed is
    alone. That text is left out. No text is lost by a failure, and `fault` describes it. `size` is the size
    of the next portion. Each portion acquires `slot`, which is shared with other vaults.
    """

    what = ""
    """The start of the error message."""

    fault = ""
    """The reason why the last portion failed ("" if it succeeded)."""

    def __init__(self, size: int, most: int, aim_s: float, retry: Retry, slot: Slots | None) -> None:
        self.size = size
        self.retry = retry
        self.slot = slot
        self._most = most
        self._aim_s = aim_s

    @abstractmethod
    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        """Stores the vectors of a portion. Returns the reason if they cannot be used (else ""). Raises as
        `accept` does."""

    @abstractmethod
    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        """Skips the only text of this job, because the model cannot embed it."""

    def accept(self, current: OpenGeneration, job: EmbedJob, result: Embedded) -> None:
        """Stores the vectors; if they cannot be written, they are computed again later. The size of the next
        portion changes by a factor between 0.5 and 2."""
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
        # By the job and not by `size`: the last portion may have been smaller.
        self.size = max(1, len(job.keys) // 2)
        self.retry.record_failure()
        if len(job.keys) == 1:
            self.leave_out(current, job)


class EmbeddingTask(PortionTask):
    """Embeds one portion at a time in the generation's spare process. A text that the model cannot embed is
    moved to the end of the queue."""

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
            return "the texts in the index have changed"
        if not current.writer.missing_vectors:
            log.info("all chunks have their vectors")
        return ""

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        current.writer.postpone(job)
