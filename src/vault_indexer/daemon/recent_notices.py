"""Notices of what happened once, such as a rebuild: told with each answer for some minutes, then no more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

SHOWN_FOR_S = 600.0
"""From the first answer that told it: whoever asks hears of it, and is not told all day. `status` goes on
telling."""

Clock = Callable[[], float]


class RecentNotices:
    """Knows when each notice was told first. `clock` gives seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}

    def to_show(self, happened: Iterable[str]) -> tuple[str, ...]:
        """Of all that happened, in its order, what is still to be told."""
        now = self._clock()
        self._told = {notice: self._told.get(notice, now) for notice in happened}
        return tuple(notice for notice, since in self._told.items() if now - since < SHOWN_FOR_S)
