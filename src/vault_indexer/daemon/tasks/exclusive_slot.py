"""What one vault of a process does at a time, since all share its memory and cores: a build, or vectors."""

from __future__ import annotations

import threading


class ExclusiveSlot:
    """Held by one owner at a time. Thread-safe; nobody waits in it: whoever is refused asks again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: object | None = None

    def try_acquire(self, owner: object) -> bool:
        """Whether `owner` holds it from now on, or already did."""
        with self._lock:
            if self._holder is None:
                self._holder = owner
            return self._holder is owner

    def release(self, owner: object) -> None:
        """`owner` holds it no longer, if it did."""
        with self._lock:
            if self._holder is owner:
                self._holder = None
