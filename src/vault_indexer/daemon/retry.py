"""Computes when failed work is retried."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from vault_indexer.errors import DiskFullError
from vault_indexer.system import free_bytes

_ROOM_BYTES = 1 << 20
"""After a full disk, work is retried at once when this much more space is free than at the failure."""


class Retry:
    """Exponential backoff. Each consecutive failure doubles the wait, between `first_s` and `latest_s`
    seconds. After a full disk, the wait ends as soon as the file system of `folder` has space. Not
    thread-safe.
    """

    def __init__(
        self,
        first_s: float,
        latest_s: float,
        clock: Callable[[], float] = time.monotonic,
        folder: Path | None = None,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._folder, self._free = folder, free
        self._first_s, self._latest_s = first_s, latest_s
        self._clock = clock
        self._wait_s = 0.0
        self._not_before = 0.0
        self._full_at: int | None = None

    def record_failure(self, error: Exception | None = None) -> None:
        self.wait(min(max(self._first_s, 2 * self._wait_s), self._latest_s))
        if self._folder is not None and isinstance(error, DiskFullError):
            self._full_at = self._free(self._folder)

    def wait_again(self) -> None:
        """Waits as long as the last time."""
        self.wait(max(self._first_s, self._wait_s))

    def wait(self, seconds: float) -> None:
        self._wait_s, self._full_at = seconds, None
        self._not_before = self._clock() + seconds

    def reset(self) -> None:
        """Ends the wait, because the work succeeded or was replaced by other work."""
        self._wait_s, self._not_before, self._full_at = 0.0, 0.0, None

    @property
    def remaining_s(self) -> float:
        """The remaining wait in seconds, for a thread that does nothing else."""
        return max(0.0, self._not_before - self._clock())

    @property
    def is_due(self) -> bool:
        if self._clock() >= self._not_before:
            return True
        if self._full_at is None or self._folder is None:
            return False
        return self._free(self._folder) >= self._full_at + _ROOM_BYTES
