"""What the vaults of one process do in turn, since they share its memory and cores: builds, and vectors."""

from __future__ import annotations

import threading


class Turn:
    """One at a time. Thread-safe; nobody waits in it: who is refused asks again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: object | None = None

    def take(self, who: object) -> bool:
        """Whether it is the turn of `who` from now on, or already was."""
        with self._lock:
            if self._holder is None:
                self._holder = who
            return self._holder is who

    def give_back(self, who: object) -> None:
        """It is the turn of `who` no longer, if it was."""
        with self._lock:
            if self._holder is who:
                self._holder = None
