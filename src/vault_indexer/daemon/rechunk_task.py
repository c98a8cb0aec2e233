"""Splits notes again whose language model gave no answer, until it does."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable

from vault_indexer.daemon.sync import VaultSync

_FIRST_S = 60.0
_LATEST_S = 3600.0


class RechunkTask:
    """Implements BackgroundTask: one note a step, in turn. An edit that comes meanwhile waits for that one
    note. After each note without an answer, the pause before the next one doubles."""

    busy = False
    """A step begins nothing that outlives it."""

    trouble = ""
    """The catalog names the notes whose model gave no answer."""

    def __init__(
        self, vault_sync: VaultSync, clock: Callable[[], float] = time.monotonic, first_s: float = _FIRST_S
    ) -> None:
        self._vault_sync = vault_sync
        self._clock = clock
        self._first_s = self._wait_s = first_s
        self._not_before = 0.0
        self._last = ""

    def step(self, *, idle: bool) -> None:
        """Split the next note again, if the loop is `idle` and it is time. Raises VaultIndexerError or
        OSError."""
        if not idle or self._clock() < self._not_before:
            return
        waiting = self._vault_sync.notes_without_model()
        if not waiting:
            self._pause(self._first_s)
            return
        self._last = waiting[bisect_right(waiting, self._last) % len(waiting)]
        self._pause(min(2 * self._wait_s, _LATEST_S))  # also where this fails
        self._vault_sync.rechunk(self._last)
        if len(self._vault_sync.notes_without_model()) < len(waiting):
            self._pause(self._first_s)
            self._not_before = self._clock()

    def end(self) -> None:
        """Nothing is under way between two steps."""

    def _pause(self, seconds: float) -> None:
        self._wait_s = seconds
        self._not_before = self._clock() + seconds
