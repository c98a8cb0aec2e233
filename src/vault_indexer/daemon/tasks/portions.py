"""How many texts a task embeds at a time, and when it tries again after a failure."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from vault_indexer.daemon.retry import Retry

log = logging.getLogger("vault_indexer.daemon")


@dataclass
class Portions:
    """So many texts that they take `aim_s` seconds, at most `most`. A portion that fails is tried again
    later, and smaller, until the one text that the model cannot take is alone. One thread uses it.

    `size` is that of the next portion, and `fault` says why the last one failed.
    """

    size: int
    most: int
    aim_s: float
    retry: Retry
    fault: str = ""

    def record_success(self, seconds: float) -> None:
        """A portion of `size` took so long. The next one is at most twice as large, or half."""
        factor = min(2.0, max(0.5, self.aim_s / max(seconds, 1e-6)))
        self.size = max(1, min(self.most, round(self.size * factor)))
        self.retry.reset()
        self.fault = ""

    def record_failure(self, texts: int, fault: str) -> None:
        """A portion of so many texts failed."""
        self.fault = fault
        log.warning("%s", fault)
        self.size = max(1, texts // 2)
        self.retry.record_failure()
