"""Worker processes that may die: a note that kills the parser costs one worker, and is known by name.

Each worker is a process with a connection. A job that ends its worker, or takes more than it may, is reported
as `Died`; the others go on. No wait for a worker lasts for ever.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from multiprocessing.connection import Connection, wait
from typing import Generic, Protocol, TypeVar, runtime_checkable

from vault_indexer.errors import ProcessError, UnavailableError
from vault_indexer.index.workers.budget import JobWatch, Mark, NoteBudget
from vault_indexer.index.workers.job import Died
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import MemoryWatch, ProcessLimits

# Limits how many do the same work at once, because they share memory and cores.


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
        """Change the number of slots; a slot that is taken is kept."""
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
        with self._changed:
            self._alive.pop(pool, None)


_STARTS = 5
"""At most this number of workers in a row may end before they have begun: more is no accident."""

Job = TypeVar("Job")
Result = TypeVar("Result", covariant=True)
JobIn = TypeVar("JobIn", contravariant=True)


class Worker(Protocol[JobIn, Result]):
    """What runs in the worker process."""

    def handle(self, job: JobIn) -> Result: ...


@runtime_checkable
class NoteReader(Protocol):
    """A worker that reads notes, each of which has a budget."""

    def report_reading(self, report: Callable[[Mark], None]) -> None:
        """From now on, call `report` before a note is read, and after it."""
        ...


@dataclass(frozen=True, slots=True)
class _Begun:
    """The worker is ready for jobs."""


@dataclass(frozen=True, slots=True)
class _Done(Generic[Result]):
    """What comes through the connection after each job."""

    result: Result
    outgrown: bool


class _Member(Generic[Job]):
    """One worker of a pool: its process, and the job that it does. Later ones have higher numbers."""

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
    """`size` worker processes that do jobs and may die over them.

    The code that opens or builds a generation owns a pool, and closes it; one thread at a time may call it.
    `start` is pickled: it runs in the worker and makes its Worker. Every job gets a result or `Died`, and no
    call waits for ever. A worker that dies is replaced with the next job. One that outgrows its share of
    memory is replaced after its job; before, it does `final_job`, whose result `each` gives. The processes
    end with this one. `run` waits for one of the `slots`, which pools may share. Raises ProcessError if no
    worker can begin, OSError if the system has no room for one.
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
        """Every job with its result, in order of completion. Workers stay alive between calls; with `fresh`
        each job has a worker of its own. Raises UnavailableError once the pool is stopped."""
        with self._slots.at_work(self, self._end_workers, self._stopped.is_set):
            yield from self._run(deque(jobs), fresh=fresh)

    def _run(self, waiting: deque[Job], *, fresh: bool) -> Iterator[tuple[Job, Result | Died]]:
        try:
            while waiting or self._busy:
                self._check_stopped()
                while waiting and (self._idle or len(self._busy) < self._size):
                    self._give(waiting.popleft(), fresh=fresh)
                yield from self._results(_LOOK_S)
        finally:  # a caller that stopped listening must not get these results as those of other jobs
            while self._busy:
                self._busy.popitem()[1].process.end()

    def each(self, job: Job) -> Iterator[tuple[Job, Result | Died]]:
        """The same job once to every live worker (all idle). First come the final results of those that
        have been replaced since."""
        everyone, self._idle = self._idle, []
        for member in everyone:
            self._try_to_give(member, job)
        finished, self._final_results = self._final_results, []
        return chain(finished, self.run([]))

    def begin(self, job: Job) -> None:
        """Give out one job and return; `result` is asked until it has one, and never waits. Not to be mixed
        with `run`."""
        self._give(job)

    def result(self) -> tuple[Job, Result | Died] | None:
        """That job with its result, once it is done. A worker that cannot begin is one that died."""
        if not self._busy:
            return None
        job = next(iter(self._busy.values())).job
        try:
            return next(self._results(0.0), None)
        except (ProcessError, OSError) as error:
            return job, Died(str(error))

    def stop(self) -> None:
        """Have `run` raise UnavailableError within a moment; only `close` may follow. Any thread."""
        self._stopped.set()

    def _check_stopped(self) -> None:
        if self._stopped.is_set():
            raise UnavailableError("the work was stopped")

    def become(self, other: WorkerPool[Job, Result]) -> None:
        """Have workers as `other` has, which has begun none: those that rest end now, one at work after its
        job."""
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

    def _start_worker(self) -> _Member[Job]:
        return _Member(ChildProcess(self._serve), self._serve, self._budget, next(self._numbers))

    def _give(self, job: Job, *, fresh: bool = False) -> None:
        while fresh and self._idle and len(self._idle) + len(self._busy) >= self._size:
            self._retire(self._idle.pop())
        if not fresh and self._idle and self._try_to_give(self._take_oldest(), job):
            return
        while not self._try_to_give(self._start_worker(), job):
            self._count_failed_start("it took no job")

    def _take_oldest(self) -> _Member[Job]:
        """The idle worker that was started first. It has loaded what jobs need, which one that was started
        for a large batch may lack: a model where all its texts had vectors already."""
        oldest = min(self._idle, key=lambda member: member.number)
        self._idle.remove(oldest)
        return oldest

    def _try_to_give(self, member: _Member[Job], job: Job) -> bool:
        """False if the worker has ended."""
        try:
            member.submit(job)
        except OSError:
            member.process.end()
            return False
        self._busy[member.process.connection] = member
        return True

    def _results(self, timeout_s: float) -> Iterator[tuple[Job, Result | Died]]:
        """What is done within the time, and what can not be done any more."""
        ready = wait(list(self._busy), timeout_s)
        for connection, member in list(self._busy.items()):
            # One that ended while others hold its connection can be read no more.
            if connection in ready or not member.process.is_alive():
                found = self._receive(member)
                if found is not None:
                    yield found
                continue
            excess = member.watch.verdict()
            if excess and not connection.poll():
                del self._busy[connection]
                yield member.job, Died(member.process.end(), member.jobs == 1, excess, member.watch.slow_note)

    def _receive(self, member: _Member[Job]) -> tuple[Job, Result | Died] | None:
        """Read one message, which may end the job."""
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
                raise  # another would say the same
            return job, Died(str(error), member.jobs == 1)
        if isinstance(message, Mark):
            member.watch.note_mark(message)
            return None
        if isinstance(message, _Begun):
            member.begun, self._failed_starts = True, 0
            member.process.close_early_errors()
            return None
        del self._busy[connection]
        if message.outgrown or member.serve is not self._serve:
            self._retire(member)
        else:
            self._idle.append(member)
        return job, message.result

    def _result_of_death(self, member: _Member[Job]) -> tuple[Job, Result | Died] | None:
        """A worker that had not begun did nothing of its job, which is given to another."""
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
        """End a worker: its memory goes back to the system only with the process."""
        if self._final_job is not None and self._try_to_give(member, self._final_job):
            del self._busy[member.process.connection]
            message = _last_message(member)
            if isinstance(message, _Done):  # else it died over it: what it had collected is lost
                self._final_results.append((self._final_job, message.result))
        member.process.end()


def run_until_done(pool: WorkerPool[Job, Result], job: Job, tries: int) -> Result | Died:
    """The result of one job, which is done again where a worker died over it; the last death after so many
    tries. Raises as `WorkerPool.run`."""
    result: Result | Died = Died()
    for _ in range(tries):
        ((_, result),) = pool.run([job])
        if not isinstance(result, Died):
            break
    return result


def _last_message(member: _Member[Job]) -> object:
    """The worker's answer; None if it ends, takes too long, or fails."""
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
    """Do jobs in the worker until the connection closes, which raises EOFError."""
    limits.adopt()
    worker, memory = start(), MemoryWatch(limits.memory_bytes)
    connection.send(_Begun())
    if isinstance(worker, NoteReader):
        worker.report_reading(partial(_send_mark, connection))
    while True:
        result = worker.handle(connection.recv())
        connection.send(_Done(result, memory.is_too_much()))


def _send_mark(connection: Connection, mark: Mark) -> None:
    connection.send(mark)
