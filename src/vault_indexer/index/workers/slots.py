"""Limits how many do the same work at once, because they share memory and cores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOOK_S = 0.1


class Slots:
    """Limits how many owners work at once, and how many keep workers alive. Thread-safe.

    `try_acquire` never waits: a caller that is refused tries again later. A pool that begins to work waits in
    `at_work` while all slots are taken. Where there are more pools with workers than slots, those that rest
    longest end theirs.
    """

    def __init__(self, count: int = 1) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._owners: set[object] = set()
        self._alive: dict[object, Callable[[], None]] = {}

    def resize(self, count: int) -> None:
        """There are so many from now on; who has one keeps it."""
        with self._changed:
            self._count = count
            self._changed.notify_all()

    def try_acquire(self, owner: object) -> bool:
        """Whether `owner` holds a slot from now on, or already did."""
        with self._changed:
            if owner not in self._owners and len(self._owners) >= self._count:
                return False
            self._owners.add(owner)
            return True

    def release(self, owner: object) -> None:
        """`owner` holds no slot any longer, if it did."""
        with self._changed:
            self._owners.discard(owner)
            self._changed.notify_all()

    @contextmanager
    def at_work(
        self, pool: object, end_workers: Callable[[], None], is_given_up: Callable[[], bool]
    ) -> Iterator[bool]:
        """A slot for the time of the block; False if it is given up before there is one. `end_workers` ends
        the workers of the pool; it is called in any thread, while the pool rests."""
        with self._changed:
            while not (has_slot := self.try_acquire(pool)) and not is_given_up():
                self._changed.wait(_LOOK_S)
            if has_slot:
                self.forget(pool)
                self._alive[pool] = end_workers
                resting = [one for one in self._alive if one not in self._owners]
                for one in resting[: max(0, len(self._alive) - self._count)]:
                    self._alive.pop(one)()
        try:
            yield has_slot
        finally:
            self.release(pool)

    def forget(self, pool: object) -> None:
        """The pool has ended its workers itself."""
        with self._changed:
            self._alive.pop(pool, None)
