"""Work between edits that other processes do: tasks say what is next, and one runner a slot has it done."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.jobs import Job
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.workers.pool import Slots, WorkerPool
from vault_indexer.index.writer import IndexWriter
from vault_indexer.search import load_words_in_background

TaskJob = TypeVar("TaskJob")
TaskResult = TypeVar("TaskResult")
PoolJob = TypeVar("PoolJob")
PoolResult = TypeVar("PoolResult")


class Work(Generic[PoolJob, PoolResult]):
    """A job for the one process of a pool. When it is done the process ends, because it takes memory, unless
    it `is_kept` for the next job with the model that it has loaded."""

    def __init__(
        self, pool: WorkerPool[PoolJob, PoolResult], job: PoolJob, is_kept: Callable[[], bool] = lambda: False
    ) -> None:
        self.pool = pool
        self.job = job
        self.is_kept = is_kept

    def result(self) -> tuple[object, object] | None:
        """The job with its outcome; None while there is none. Never waits."""
        return self.pool.result()


NextWork = Work[Any, Any] | None


class UpkeepTask(ABC, Generic[TaskJob, TaskResult]):
    """What is to be done for the active generation, and what becomes of it. The daemon's loop calls it from
    its thread; no method waits for a process or a model."""

    slot: Slots | None = None
    """What its work holds while it is under way, if it shares that with the other vaults of the process."""

    @property
    def fault(self) -> str:
        """What does not succeed at the moment, as one line for the user; "" where that is only logged."""
        return ""

    def observe(self, *, is_idle: bool) -> None:
        """Called in each step of the loop, with whether it has nothing else to do."""

    @abstractmethod
    def next_work(self, current: OpenGeneration) -> NextWork:
        """What is next; None where there is nothing, or it is not yet time."""

    @abstractmethod
    def accept(self, current: OpenGeneration, job: TaskJob, result: TaskResult) -> None:
        """Use the result of a job. Raises VaultIndexerError or OSError if the index cannot be written."""

    @abstractmethod
    def fail(self, current: OpenGeneration, job: TaskJob, reason: str) -> None:
        """There is no result, for this reason."""


class _Begun(NamedTuple):
    task: UpkeepTask[Any, Any]
    work: Work[Any, Any]
    writer: IndexWriter


class Upkeep:
    """Implements BackgroundTask: it has the work of several tasks done, one at a time.

    The first task that has anything to do comes first. The outcome of a generation that is no longer the
    active one does not count. The daemon's loop owns it and calls it from its thread.
    """

    def __init__(self, vault_sync: VaultSync, tasks: Sequence[UpkeepTask[Any, Any]]) -> None:
        """The `tasks` in order of priority."""
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
        """Accept an outcome that is there, and begin what is next if the loop is `is_idle`. Raises OSError if
        no process can be started."""
        for task in self._tasks:
            task.observe(is_idle=is_idle)
        current = self._vault_sync.current
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
    """A job in the generation's spare process, which may have its model loaded."""
    return Work(current.spare, job, lambda: current.writer.missing_vectors > 0)


# What the daemon's loop does between edits.


class BackgroundTask(Protocol):
    """Work that waits until nothing else is to be done. The daemon's loop owns it and calls it from its
    thread.

    `step` never waits for a process or a model, except where a task says so: an edit comes first.
    """

    @property
    def faults(self) -> tuple[str, ...]:
        """What does not succeed at the moment, each as one line for the user."""
        ...

    def step(self, *, is_idle: bool) -> None:
        """Accept a result that is there. Begin what is next only where the loop is `is_idle`. Raises
        VaultIndexerError or OSError if the index cannot be written."""
        ...

    def end(self) -> None:
        """Abandon what is under way: its result does not count."""
        ...


class RemoteFollower(BackgroundTask, Protocol):
    """A task that brings a server to the state of the catalog, in a thread of its own: no edit and no search
    waits for the server. An optional package offers it."""

    def behind(self) -> int:
        """The commits that searches on the server do not show yet; 1 while that is unknown. Any thread."""
        ...


# Reads the words of new segments, so that no search of a misspelt word has to wait for them.


class WordsTask:
    """Implements BackgroundTask: one thread at a time reads the words that a commit or a merge has added.

    A search for a word that no note holds looks for its likely spelling among all words. The first one after
    3,500 notes were written, in ten segments, would read 600,000 terms first: that took 1.5 seconds. Where no
    words at all have been read, as after a start, nothing is begun: `warm_in_background` reads them.
    """

    faults = ()
    """A search reads what is missing."""

    def __init__(self, vault_sync: VaultSync) -> None:
        self._vault_sync = vault_sync
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def step(self, *, is_idle: bool) -> None:
        """Begin, if the loop is `is_idle` and there are new segments."""
        current = self._vault_sync.current
        if not is_idle or current is None or self.busy:
            return
        with current.writer.holder.lease() as snapshot:
            lexicon = snapshot.keywords.lexicon
        if lexicon.is_partly_read:
            self._thread = load_words_in_background(current.writer.holder)

    def end(self) -> None:
        """Nothing to undo: the thread ends by itself, at the latest with the index."""
