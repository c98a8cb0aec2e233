"""Pauses of indexing that the user requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

PAUSED = "indexing is paused: run `indexer resume` first"
"""Why something that was asked for is not done."""


class Pause:
    """A pause that begins and ends at a word, or ends by itself when its time is over. Thread-safe.

    It ends with its process: a daemon that starts again indexes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._active = False
        self._end: float | None = None

    @property
    def active(self) -> bool:
        with self._changed:
            return self._seconds_left() > 0

    @property
    def until(self) -> datetime | None:
        """When it ends by itself (UTC, whole seconds); None where it does not, or where there is none."""
        with self._changed:
            seconds_left = self._seconds_left()
            if self._end is None or seconds_left <= 0:
                return None
            return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=round(seconds_left))

    def begin(self, seconds: float | None) -> None:
        """Rest for so long, or (None) until `end`. One that is under way is replaced."""
        with self._changed:
            self._active = True
            self._end = None if seconds is None else self._clock() + seconds
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._active, self._end = False, None
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Return when something was said, when the pause is over, or after so many seconds."""
        with self._changed:
            seconds_left = self._seconds_left()
            if seconds_left > 0:
                self._changed.wait(min(seconds, seconds_left))

    def _seconds_left(self) -> float:
        """Seconds, 0 where nothing is paused."""
        if not self._active:
            return 0.0
        return float("inf") if self._end is None else max(0.0, self._end - self._clock())
