"""Notes that were cut while their language model gave no answer, cut again when it does."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable

from vault_indexer.daemon.sync import VaultSync

_FIRST_S = 60.0
_LATEST_S = 3600.0


class RechunkTask:
    """One note at a time, in turn, for an edit that comes meanwhile waits; the thread that edits asks `step`.
    A note without an answer is followed by a longer and longer pause."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, first_s: float = _FIRST_S) -> None:
        self._clock = clock
        self._first_s = self._wait_s = first_s
        self._not_before = 0.0
        self._last = ""

    def step(self, vault_sync: VaultSync, *, idle: bool) -> None:
        """Cut the next one again, if all is `idle` and it is time. Raises VaultIndexerError or OSError."""
        if not idle or self._clock() < self._not_before:
            return
        waiting = vault_sync.notes_without_model()
        if not waiting:
            self._pause(self._first_s)
            return
        self._last = waiting[bisect_right(waiting, self._last) % len(waiting)]
        self._pause(min(2 * self._wait_s, _LATEST_S))  # also where this fails
        vault_sync.rechunk(self._last)
        if len(vault_sync.notes_without_model()) < len(waiting):
            self._pause(self._first_s)
            self._not_before = self._clock()

    def _pause(self, seconds: float) -> None:
        self._wait_s = seconds
        self._not_before = self._clock() + seconds
