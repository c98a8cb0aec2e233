"""Work between edits that other processes do: tasks say what is next, and one runner a slot has it done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.jobs import Job
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.index.writer import IndexWriter

OwnJob = TypeVar("OwnJob")
OwnResult = TypeVar("OwnResult")


class Work(Protocol):
    """A job that is under way."""

    def result(self) -> tuple[object, object] | None:
        """The job with its outcome; None while there is none. Never waits."""
        ...

    def end(self) -> None:
        """Give back what the work takes, when it is done or no longer wanted. Called once."""
        ...


class UpkeepTask(ABC):
    """What is to be done for the active generation, and what becomes of it. The daemon's loop calls it from
    its thread; no method waits for a process or a model."""

    @property
    def fault(self) -> str:
        """What does not succeed at the moment, as one line for the user; "" where that is only logged."""
        return ""

    def observe(self, *, is_idle: bool) -> None:  # noqa: B027 - most tasks need not know
        """Called in each step of the loop, with whether it has nothing else to do."""

    @abstractmethod
    def begin(self, current: OpenGeneration) -> Work | None:
        """Begin what is next; None where there is nothing, or it is not yet time. Raises OSError if no
        process can be started."""

    @abstractmethod
    def accept(self, current: OpenGeneration, job: object, outcome: object) -> None:
        """Use the outcome of the work begun last, which may be Failed or Died. Raises VaultIndexerError or
        OSError if the index cannot be written."""


class Upkeep:
    """Implements BackgroundTask: one slot, in which one of several tasks has work under way.

    The first task that has anything to do gets the slot. The outcome of a generation that is no longer the
    active one does not count. The daemon's loop owns it and calls it from its thread.
    """

    def __init__(self, vault_sync: VaultSync, tasks: Sequence[UpkeepTask]) -> None:
        """The `tasks` in order of priority."""
        self._vault_sync = vault_sync
        self._tasks = tasks
        self._begun: tuple[UpkeepTask, IndexWriter, Work] | None = None

    @property
    def doing(self) -> UpkeepTask | None:
        """The task whose work is under way."""
        return None if self._begun is None else self._begun[0]

    @property
    def busy(self) -> bool:
        """Whether work is under way."""
        return self._begun is not None

    @property
    def faults(self) -> tuple[str, ...]:
        """Those of the tasks."""
        return tuple(task.fault for task in self._tasks if task.fault)

    def step(self, *, is_idle: bool) -> None:
        """Accept an outcome that is there, and begin what is next if the loop is `is_idle`."""
        for task in self._tasks:
            task.observe(is_idle=is_idle)
        current = self._vault_sync.current
        if self._begun is not None and (current is None or self._begun[1] is not current.writer):
            self.end()
        if current is None:
            return
        if self._begun is not None:
            self._accept(current, *self._begun)
        if is_idle and self._begun is None:
            self._begin(current)

    def end(self) -> None:
        """Abandon what is under way."""
        if self._begun is not None:
            (_, _, work), self._begun = self._begun, None
            work.end()

    def _accept(self, current: OpenGeneration, task: UpkeepTask, _writer: IndexWriter, work: Work) -> None:
        done = work.result()
        if done is not None:
            self.end()
            task.accept(current, *done)

    def _begin(self, current: OpenGeneration) -> None:
        for task in self._tasks:
            work = task.begin(current)
            if work is not None:
                self._begun = (task, current.writer, work)
                return


class PoolWork(Generic[OwnJob, OwnResult]):
    """Implements Work: a job in the one process of a pool. `on_end` is called when it is done; a process that
    is not done ends."""

    def __init__(
        self, pool: WorkerPool[OwnJob, OwnResult], job: OwnJob, on_end: Callable[[], None] = lambda: None
    ) -> None:
        self._pool = pool
        self._on_end = on_end
        self._is_done = False
        pool.begin(job)

    def result(self) -> tuple[object, object] | None:
        """Implements Work."""
        found = self._pool.result()
        self._is_done = found is not None
        return found

    def end(self) -> None:
        """Implements Work."""
        if not self._is_done:
            self._pool.close()
        self._on_end()


def spare_work(current: OpenGeneration, job: Job, on_end: Callable[[], None] = lambda: None) -> Work:
    """A job in the generation's spare process, which may have its model loaded. It goes on with the next job;
    the process ends with the generation, or where nothing waits for vectors."""

    def end() -> None:
        on_end()
        if not current.writer.owed:
            current.spare.close()

    return PoolWork(current.spare, job, end)


def own_work(pool: WorkerPool[OwnJob, OwnResult], job: OwnJob) -> Work:
    """A job in a process that ends with it, because it takes memory."""
    return PoolWork(pool, job, pool.close)
