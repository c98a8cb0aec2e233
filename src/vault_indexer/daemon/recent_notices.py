"""Notices of what happened once, such as a rebuild: shown with each answer for some minutes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

SHOWN_FOR_S = 600.0
"""From the first answer that showed it. `status` shows it as long as the daemon runs."""

Clock = Callable[[], float]


class RecentNotices:
    """Knows when each notice was first shown. `clock` gives seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._shown_since: dict[str, float] = {}

    def to_show(self, happened: Iterable[str]) -> tuple[str, ...]:
        """Of all that happened, in its order, what is still to be shown."""
        now = self._clock()
        self._shown_since = {notice: self._shown_since.get(notice, now) for notice in happened}
        return tuple(notice for notice, since in self._shown_since.items() if now - since < SHOWN_FOR_S)
