"""Pools of worker processes that share their slots, one pool for each of several vaults."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from vault_indexer.index.workers.job import Died
from vault_indexer.index.workers.pool import WorkerPool

Job = TypeVar("Job")
Result = TypeVar("Result", covariant=True)

_LOOK_S = 0.1


class WorkerSlots:
    """So many pools at work at once, and so many with workers alive. Thread-safe.

    A pool that begins to work takes a slot, and waits for one while all are taken. Where there are more
    pools with workers than slots, those that rest longest end theirs.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._at_work: set[int] = set()
        self._alive: dict[int, Callable[[], None]] = {}

    @contextmanager
    def slot(
        self, pool: int, end_workers: Callable[[], None], is_given_up: Callable[[], bool]
    ) -> Iterator[bool]:
        """A slot for the time of the block, for the pool of this number; False if it is given up before
        there is one. `end_workers` ends its workers; it is called in any thread, while the pool rests."""
        has_slot = self._take(pool, end_workers, is_given_up)
        try:
            yield has_slot
        finally:
            with self._changed:
                self._at_work.discard(pool)
                self._changed.notify_all()

    def forget(self, pool: int) -> None:
        """The pool has ended its workers itself."""
        with self._changed:
            self._alive.pop(pool, None)

    def _take(self, pool: int, end_workers: Callable[[], None], is_given_up: Callable[[], bool]) -> bool:
        with self._changed:
            while len(self._at_work) >= self._count:
                if is_given_up():
                    return False
                self._changed.wait(_LOOK_S)
            self._at_work.add(pool)
            self._alive.pop(pool, None)
            self._alive[pool] = end_workers
            resting = [one for one in self._alive if one not in self._at_work]
            for one in resting[: max(0, len(self._alive) - self._count)]:
                self._alive.pop(one)()
            return True


class SharedPool(WorkerPool[Job, Result]):
    """A pool that works only while it has one of the slots."""

    def __init__(self, slots: WorkerSlots, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # those of a pool
        self._slots = slots

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Result | Died]]:
        """As that of a pool, once it has a slot."""
        with self._slots.slot(id(self), super().close, self._stopped.is_set):
            yield from super().run(jobs, fresh=fresh)

    def run_until_stopped(self, job: Job, stopped: Callable[[], bool]) -> None:
        """As that of a pool, once it has a slot."""
        with self._slots.slot(id(self), super().close, stopped) as has_slot:
            if has_slot:
                super().run_until_stopped(job, stopped)

    def close(self) -> None:
        """End all workers now, whatever they do."""
        self._slots.forget(id(self))
        super().close()
