"""A pool of worker processes that may die: a note that crashes the parser ends one worker and is identified.

Each worker is a process with a connection. A job that ends its worker or exceeds its limits is reported as
`Died`; the other workers continue. Every wait for a worker is limited.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from multiprocessing.connection import Connection, wait
from typing import Generic, Protocol, TypeVar, runtime_checkable

from vault_indexer.errors import DiskFullError, ProcessError, UnavailableError, VaultIndexerError
from vault_indexer.index.workers.budget import JobWatch, Mark, NoteBudget
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import FULL_ERRORS, MemoryWatch, ProcessLimits, record

WorkerIn = TypeVar("WorkerIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Runnable(Protocol[WorkerIn, ResultOut]):
    """A job for another process. Its outcome, which is sent back, is its result, or Failed, or Died. Both the
    job and its result must be picklable."""

    def run(self, worker: WorkerIn) -> ResultOut:
        """Runs the job in the process. `worker` contains the state that jobs share. Raises VaultIndexerError
        or OSError for errors that concern more than one note."""
        ...


@record
class Failed:
    """The outcome of a job that a foreseen error ended, such as an error of the model or the disk. `reason`
    is one line."""

    reason: str
    disk_full: bool = False


@record
class Died:
    """The outcome of a job whose worker ended: a crash of native code, memory, an unforeseen error, a signal.

    `fresh`: it was the first job of the worker. `excess` names the limit for which the job was ended, and
    `end` describes how the process ended. `slow_note` is the note that took too much processor time.
    """

    end: str = ""
    fresh: bool = False
    excess: str = ""
    slow_note: str = ""

    @property
    def reason(self) -> str:
        return self.excess or self.end or "the worker process ended"


def run_job(job: Runnable[WorkerIn, ResultOut], worker: WorkerIn) -> ResultOut | Failed:
    """Runs a job in this process, and returns its result or the foreseen error that ended it."""
    try:
        return job.run(worker)
    except (VaultIndexerError, OSError) as error:
        is_full = isinstance(error, DiskFullError) or getattr(error, "errno", None) in FULL_ERRORS
        return Failed(str(error), disk_full=is_full)


class JobWorker:
    """A worker without state between jobs."""

    def handle(self, job: Runnable[JobWorker, ResultOut]) -> ResultOut | Failed:
        return run_job(job, self)


_LOOK_S = 0.1


class Slots:
    """Limits the number of owners that work at once, and of pools that keep workers alive, because pools
    share memory and cores. Thread-safe.

    `try_acquire` never waits: a caller that is refused tries again later. A pool that begins to work waits in
    `at_work` while all slots are taken. If more pools have workers than there are slots, the pools that have
    been idle longest end theirs.
    """

    def __init__(self, count: int = 1) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._owners: set[object] = set()
        self._alive: dict[object, Callable[[], None]] = {}

    def resize(self, count: int) -> None:
        """Changes the number of slots. Slots that are taken stay taken."""
        with self._changed:
            self._count = count
            self._changed.notify_all()

    def try_acquire(self, owner: object) -> bool:
        """Takes a slot for `owner`. Returns whether it has one, which may be from an earlier call."""
        with self._changed:
            if owner not in self._owners and len(self._owners) >= self._count:
                return False
            self._owners.add(owner)
            return True

    def release(self, owner: object) -> None:
        with self._changed:
            self._owners.discard(owner)
            self._changed.notify_all()

    @contextmanager
    def at_work(
        self, pool: object, end_workers: Callable[[], None], is_given_up: Callable[[], bool]
    ) -> Iterator[bool]:
        """Waits for a slot and keeps it until the block ends. Yields False if `is_given_up` before a slot is
        free. `end_workers` ends the workers of the pool; any thread may call it while the pool is idle."""
        with self._changed:
            # The wait is limited because `is_given_up` may change without a notification.
            while not (has_slot := self.try_acquire(pool)) and not is_given_up():
                self._changed.wait(_LOOK_S)
            if has_slot:
                self.forget(pool)
                self._alive[pool] = end_workers
                # In the order in which they last began, so the pools that have been idle longest come first.
                resting = [one for one in self._alive if one not in self._owners]
                for one in resting[: max(0, len(self._alive) - self._count)]:
                    self._alive.pop(one)()
        try:
            yield has_slot
        finally:
            self.release(pool)

    def forget(self, pool: object) -> None:
        with self._changed:
            self._alive.pop(pool, None)


_STARTS = 5
"""After this number of workers in a row have ended before they began, the pool raises ProcessError."""

Job = TypeVar("Job")
Result = TypeVar("Result", covariant=True)
JobIn = TypeVar("JobIn", contravariant=True)


class Worker(Protocol[JobIn, Result]):
    """The object that handles jobs in the worker process."""

    def handle(self, job: JobIn) -> Result: ...


@runtime_checkable
class NoteReader(Protocol):
    """A worker that reads notes, each within a budget."""

    def report_reading(self, report: Callable[[Mark], None]) -> None:
        """Calls `report` before and after each note is read from now on."""
        ...


@record
class _Begun:
    """The message that the worker is ready for jobs."""


@record
class _Done(Generic[Result]):
    """The message after each job. `outgrown`: the worker uses more than its share of memory."""

    result: Result
    outgrown: bool


class _Member(Generic[Job]):
    """One worker of a pool: its process and its current job. Workers that start later have higher numbers."""

    def __init__(self, process: ChildProcess, serve: object, budget: NoteBudget, number: int) -> None:
        self.process = process
        self.serve = serve
        self.number = number
        self.watch = JobWatch(process.pid, budget)
        self.begun = False
        self.jobs = 0
        self.job: Job

    def submit(self, job: Job) -> None:
        """Raises OSError if the process has ended."""
        self.job = job
        self.watch.note_mark(None)
        self.process.send(job)
        self.jobs += 1


class WorkerPool(Generic[Job, Result]):
    """A pool of up to `size` worker processes that run jobs and may die in the process.

    The code that opens or builds a generation owns and closes the pool. One thread at a time may call it.
    `start` is pickled: it runs in the worker process and creates its Worker. Every job gets a result or
    `Died`, and no call waits for ever. A worker that dies is replaced with the next job. A worker that
    outgrows its share of memory is replaced after its job; it first runs `final_job`, whose result `each`
    returns. The processes end with this one. `run` waits for one of the `slots`, which pools may share.
    Raises ProcessError if no worker can begin, and OSError if the system has no room for one.
    """

    def __init__(
        self,
        size: int,
        start: Callable[[], Worker[Job, Result]],
        limits: ProcessLimits | None = None,
        final_job: Job | None = None,
        budget: NoteBudget | None = None,
        slots: Slots | None = None,
    ) -> None:
        self._serve = partial(_serve, start=start, limits=limits or ProcessLimits())
        self._final_job = final_job
        self._budget = budget or NoteBudget()
        self._slots = slots or Slots()
        self._final_results: list[tuple[Job, Result | Died]] = []
        self._size = size
        self._failed_starts = 0
        self._numbers = count()
        self._idle: list[_Member[Job]] = []
        self._busy: dict[Connection, _Member[Job]] = {}
        self._stopped = threading.Event()

    def run(self, jobs: Iterable[Job], *, fresh: bool = False) -> Iterator[tuple[Job, Result | Died]]:
        """Runs the jobs, and yields each with its result in order of completion. Workers stay alive between
        calls; with `fresh`, each job gets a new worker. Raises UnavailableError once the pool is stopped."""
        with self._slots.at_work(self, self._end_workers, self._stopped.is_set):
            yield from self._run(deque(jobs), fresh=fresh)

    def _run(self, waiting: deque[Job], *, fresh: bool) -> Iterator[tuple[Job, Result | Died]]:
        try:
            while waiting or self._busy:
                if self._stopped.is_set():
                    raise UnavailableError("the work was stopped")
                while waiting and (self._idle or len(self._busy) < self._size):
                    self._give(waiting.popleft(), fresh=fresh)
                yield from self._results(_LOOK_S)
        finally:  # after a caller has stopped early, the next call must not receive the results of these jobs
            while self._busy:
                self._busy.popitem()[1].process.end()

    def each(self, job: Job) -> Iterator[tuple[Job, Result | Died]]:
        """Runs the same job once in every live worker; all must be idle. The final results of workers that
        have been replaced come first."""
        everyone, self._idle = self._idle, []
        for member in everyone:
            self._try_to_give(member, job)
        finished, self._final_results = self._final_results, []
        return chain(finished, self.run([]))

    def begin(self, job: Job) -> None:
        """Starts one job and returns. The caller then calls `result`, which never waits, until it returns the
        result. Must not be combined with `run`."""
        self._give(job)

    def result(self) -> tuple[Job, Result | Died] | None:
        """Returns the job of `begin` with its result, or None if it is not done. A worker that cannot begin
        counts as one that died."""
        if not self._busy:
            return None
        job = next(iter(self._busy.values())).job
        try:
            return next(self._results(0.0), None)
        except (ProcessError, OSError) as error:
            return job, Died(str(error))

    def stop(self) -> None:
        """Makes `run` raise UnavailableError soon. Only `close` may be called after that. Any thread."""
        self._stopped.set()

    def become(self, other: WorkerPool[Job, Result]) -> None:
        """Takes over the configuration of `other`, a pool that has started no workers. Idle workers end now,
        and busy workers end after their job."""
        self._serve, self._size, self._budget = other._serve, other._size, other._budget
        idle, self._idle = self._idle, []
        for member in idle:
            member.process.end()

    @property
    def has_workers(self) -> bool:
        return bool(self._idle or self._busy)

    def close(self) -> None:
        self._slots.forget(self)
        self._end_workers()

    def _end_workers(self) -> None:
        everyone = [*self._idle, *self._busy.values()]
        self._idle, self._busy = [], {}
        for member in everyone:
            member.process.end()

    def _give(self, job: Job, *, fresh: bool = False) -> None:
        # A new worker must not exceed the size, so an idle one makes room.
        while fresh and self._idle and len(self._idle) + len(self._busy) >= self._size:
            self._retire(self._idle.pop())
        if not fresh and self._idle:
            # The worker that was started first has probably loaded its model. One that was started for a
            # large batch may not have, if all texts had vectors already.
            oldest = min(self._idle, key=lambda member: member.number)
            self._idle.remove(oldest)
            if self._try_to_give(oldest, job):
                return
        while True:
            process, number = ChildProcess(self._serve), next(self._numbers)
            if self._try_to_give(_Member(process, self._serve, self._budget, number), job):
                return
            self._count_failed_start("it took no job")

    def _try_to_give(self, member: _Member[Job], job: Job) -> bool:
        """Gives the job to a worker. Returns False if the worker has ended."""
        try:
            member.submit(job)
        except OSError:
            member.process.end()
            return False
        self._busy[member.process.connection] = member
        return True

    def _results(self, timeout_s: float) -> Iterator[tuple[Job, Result | Died]]:
        """Yields the jobs that end within the timeout, finished or failed."""
        ready = wait(list(self._busy), timeout_s)
        for connection, member in list(self._busy.items()):
            # A process that ended is not reported as ready if other processes hold its connection open.
            if connection in ready or not member.process.is_alive():
                found = self._receive(member)
                if found is not None:
                    yield found
                continue
            excess = member.watch.verdict()
            # A result that has arrived counts, even if it was late.
            if excess and not connection.poll():
                del self._busy[connection]
                yield member.job, Died(member.process.end(), member.jobs == 1, excess, member.watch.slow_note)

    def _receive(self, member: _Member[Job]) -> tuple[Job, Result | Died] | None:
        """Reads one message, which may end the job."""
        connection, job = member.process.connection, member.job
        try:
            message: _Begun | Mark | _Done[Result] = member.process.receive()
        except (EOFError, OSError):
            del self._busy[connection]
            return self._result_of_death(member)
        except ProcessError as error:
            del self._busy[connection]
            member.process.end()
            if not member.begun:
                raise  # another worker would fail in the same way
            return job, Died(str(error), member.jobs == 1)
        if isinstance(message, Mark):
            member.watch.note_mark(message)
            return None
        if isinstance(message, _Begun):
            member.begun, self._failed_starts = True, 0
            member.process.close_early_errors()
            return None
        del self._busy[connection]
        # `become` has changed how workers start since this one was started.
        if message.outgrown or member.serve is not self._serve:
            self._retire(member)
        else:
            self._idle.append(member)
        return job, message.result

    def _result_of_death(self, member: _Member[Job]) -> tuple[Job, Result | Died] | None:
        """Returns the outcome of a job whose worker died. If the worker had not begun, the job is given to
        another worker instead."""
        end = member.process.end()
        if member.begun:
            return member.job, Died(end, member.jobs == 1)
        self._count_failed_start(end)
        self._give(member.job)
        return None

    def _count_failed_start(self, end: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= _STARTS:
            self._failed_starts = 0
            raise ProcessError(f"{_STARTS} worker processes in a row ended before they began: {end}")

    def _retire(self, member: _Member[Job]) -> None:
        """Ends a worker: its memory goes back to the system only with the process."""
        if self._final_job is not None and self._try_to_give(member, self._final_job):
            del self._busy[member.process.connection]
            message = _last_message(member)
            if isinstance(message, _Done):  # otherwise it died, and its collected results are lost
                self._final_results.append((self._final_job, message.result))
        member.process.end()


def run_until_done(pool: WorkerPool[Job, Result], job: Job, tries: int) -> Result | Died:
    """Runs one job, and repeats it if its worker dies. Returns the last `Died` after `tries` attempts. Raises
    as `WorkerPool.run` does."""
    result: Result | Died = Died()
    for _ in range(tries):
        ((_, result),) = pool.run([job])
        if not isinstance(result, Died):
            break
    return result


def _last_message(member: _Member[Job]) -> object:
    """Returns the worker's last message; None if it ends, takes too long, or fails."""
    connection = member.process.connection
    try:
        while True:
            while not connection.poll(_LOOK_S):
                if not member.process.is_alive() or member.watch.verdict():
                    return None
            message: object = member.process.receive()
            if not isinstance(message, Mark):
                return message
            member.watch.note_mark(message)
    except (EOFError, OSError, ProcessError):
        return None


def _serve(connection: Connection, start: Callable[[], Worker[Job, Result]], limits: ProcessLimits) -> None:
    """Runs jobs in the worker until the connection closes, which raises EOFError."""
    limits.adopt()
    worker, memory = start(), MemoryWatch(limits.memory_bytes)
    # Only now: what fails before this message would fail in each worker.
    connection.send(_Begun())
    if isinstance(worker, NoteReader):
        worker.report_reading(connection.send)
    while True:
        result = worker.handle(connection.recv())
        connection.send(_Done(result, memory.is_too_much()))
