"""Background work in other processes between edits. Tasks supply jobs, and `Upkeep` runs one at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.jobs import Job
from vault_indexer.index.workers.pool import Died, Failed, Slots, WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.search import load_words_in_background

TaskJob = TypeVar("TaskJob")
TaskResult = TypeVar("TaskResult")
PoolJob = TypeVar("PoolJob")
PoolResult = TypeVar("PoolResult")


class Work(Generic[PoolJob, PoolResult]):
    """A job for a pool with one process. After the job the process ends to free its memory, unless `is_kept`
    returns True: it then waits for the next job with its loaded model."""

    def __init__(
        self, pool: WorkerPool[PoolJob, PoolResult], job: PoolJob, is_kept: Callable[[], bool] = lambda: False
    ) -> None:
        self.pool = pool
        self.job = job
        self.is_kept = is_kept

    def result(self) -> tuple[object, object] | None:
        """Returns the job with its outcome, or None if it is still running. Never waits."""
        return self.pool.result()


NextWork = Work[Any, Any] | None


class UpkeepTask(ABC, Generic[TaskJob, TaskResult]):
    """A source of background jobs for the active generation, which also handles their results. The daemon's
    loop calls it from its thread. No method waits for a process or a model."""

    slot: Slots | None = None
    """The slot that a running job occupies, if the vaults of the process share one."""

    @property
    def fault(self) -> str:
        """The current failure as one line for the user; "" if there is none or it is only logged."""
        return ""

    def observe(self, *, is_idle: bool) -> None:
        """Called in each step of the loop. `is_idle`: the loop has nothing else to do."""

    @abstractmethod
    def next_work(self, current: OpenGeneration) -> NextWork:
        """Returns the next job; None if there is none or none is due."""

    @abstractmethod
    def accept(self, current: OpenGeneration, job: TaskJob, result: TaskResult) -> None:
        """Uses the result of a job. Raises VaultIndexerError or OSError if the index cannot be written."""

    @abstractmethod
    def fail(self, current: OpenGeneration, job: TaskJob, reason: str) -> None:
        """Handles a job that ended without a result, for this reason."""


class _Begun(NamedTuple):
    task: UpkeepTask[Any, Any]
    work: Work[Any, Any]
    writer: IndexWriter


class Upkeep:
    """Implements BackgroundTask: it runs the jobs of several tasks, one at a time.

    The first task in the list that has a job comes first. Results for a generation that is no longer active
    are discarded. The daemon's loop owns it and calls it from its thread.
    """

    def __init__(self, vault_sync: VaultSync, tasks: Sequence[UpkeepTask[Any, Any]]) -> None:
        self._vault_sync = vault_sync
        self._tasks = tasks
        self._begun: _Begun | None = None

    @property
    def doing(self) -> UpkeepTask[Any, Any] | None:
        return None if self._begun is None else self._begun.task

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(task.fault for task in self._tasks if task.fault)

    def step(self, *, is_idle: bool) -> None:
        for task in self._tasks:
            task.observe(is_idle=is_idle)
        current = self._vault_sync.current
        # A build has replaced the generation, and results for the old one must not reach the new one.
        if self._begun is not None and (current is None or self._begun.writer is not current.writer):
            self.end()
        if current is None:
            return
        if self._begun is not None:
            self._accept(current, self._begun)
        if is_idle and self._begun is None:
            self._begin(current)

    def end(self) -> None:
        if self._begun is not None:
            self._begun.work.pool.close()
            self._leave(self._begun.task)

    def _accept(self, current: OpenGeneration, begun: _Begun) -> None:
        done = begun.work.result()
        if done is None:
            return
        job, outcome = done
        # Before `accept`, which may raise: the slot must be free for other vaults.
        self._leave(begun.task)
        try:
            if isinstance(outcome, Failed | Died):
                begun.task.fail(current, job, outcome.reason)
            else:
                begun.task.accept(current, job, outcome)
        finally:
            if not begun.work.is_kept():
                begun.work.pool.close()

    def _begin(self, current: OpenGeneration) -> None:
        for task in self._tasks:
            work = task.next_work(current)
            if work is None or (task.slot is not None and not task.slot.try_acquire(task)):
                continue
            self._begun = _Begun(task, work, current.writer)
            try:
                work.pool.begin(work.job)
            except BaseException:
                self.end()
                raise
            return

    def _leave(self, task: UpkeepTask[Any, Any]) -> None:
        self._begun = None
        if task.slot is not None:
            task.slot.release(task)


def spare_work(current: OpenGeneration, job: Job) -> NextWork:
    """Returns work for the generation's spare process. The process is kept while vectors are missing, because
    it may have loaded its model."""
    return Work(current.spare, job, lambda: current.writer.missing_vectors > 0)


class BackgroundTask(Protocol):
    """Work that runs only while nothing else is due. The daemon's loop calls it from its thread."""

    @property
    def faults(self) -> tuple[str, ...]:
        """The current failures, each as one line for the user."""
        ...

    def step(self, *, is_idle: bool) -> None:
        """Accepts a finished result, and begins the next job only if the loop `is_idle`. Never waits for a
        process or a model. Raises VaultIndexerError or OSError if the index cannot be written."""
        ...

    def end(self) -> None:
        """Abandons the current job and discards its result."""
        ...


class RemoteFollower(BackgroundTask, Protocol):
    """A task that brings a server to the state of the catalog in a separate thread. No edit and no search
    waits for the server. An optional package provides it."""

    def behind(self) -> int:
        """Returns the number of commits that searches on the server do not show yet; 1 while it is unknown.
        Any thread."""
        ...


class WordsTask:
    """Implements BackgroundTask: one thread at a time reads the words that a commit or a merge has added.

    A search for a word that no note contains looks for its likely spelling among all words. After 3,500 notes
    were written in ten segments, the first such search would read 600,000 terms, which took 1.5 seconds. If
    no words have been read at all, as after a start, this task does nothing: `warm_in_background` reads them.
    """

    faults = ()
    """Always empty: a search reads the missing words itself."""

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def step(self, *, is_idle: bool) -> None:
        current = self._vault_sync.current
        if not is_idle or current is None or self.busy:
            return
        with current.writer.holder.lease() as snapshot:
            lexicon = snapshot.keywords.lexicon
        if lexicon.is_partly_read:
            self._thread = load_words_in_background(current.writer.holder)

    def end(self) -> None:
        """Does nothing: the thread ends by itself, at the latest with the index."""
