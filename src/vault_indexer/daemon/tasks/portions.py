"""Vectors that are made in portions of a few texts, while nothing else is to be done."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.tasks.upkeep import UpkeepTask
from vault_indexer.index.jobs import Embedded, EmbedJob
from vault_indexer.index.workers.slots import Slots

log = logging.getLogger("vault_indexer.daemon")


class PortionTask(UpkeepTask[EmbedJob, Embedded]):
    """Has portions of so many texts embedded that each takes `aim_s` seconds, at most `most` texts.

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
        """Try half of it later."""
        self.fault = f"{self.what}, will retry: {reason}"
        log.warning("%s", self.fault)
        self.size = max(1, len(job.keys) // 2)
        self.retry.record_failure()
        if len(job.keys) == 1:
            self.leave_out(current, job)
