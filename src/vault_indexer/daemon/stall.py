"""Whether changes that are pending make progress."""

from __future__ import annotations

import time
from collections.abc import Callable

STALLED_S = 60.0
"""An edit takes seconds, and a batch of any size is counted down note by note; the largest merge of keyword
segments measured took 24 s."""


class StallWatch:
    """Knows since when the number of pending changes has not gone down.

    The daemon's loop tells each number it sees. A loop that hangs tells none, and so makes no progress.
    Any thread may ask. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = 0
        self._since = clock()

    def observe(self, pending: int) -> None:
        """Note how many changes are pending now: 0 where indexing has rested, when none had to move."""
        if not pending or pending < self._last:
            self._since = self._clock()
        self._last = pending

    def stalled_s(self) -> float:
        """Seconds without progress, or 0 while they are fewer than `STALLED_S`."""
        seconds = self._clock() - self._since
        return seconds if seconds >= STALLED_S else 0.0
