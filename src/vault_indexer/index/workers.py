"""Worker processes that may die: a note that kills the parser costs one worker, and is known by name.

Each worker is a process with a pipe. A job that ends its worker is reported as `Died`; the others go on.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, Protocol, TypeVar

from vault_indexer.index.manners import Appetite, Manners

_LOOK_S = 0.1

Job = TypeVar("Job")
Result = TypeVar("Result", covariant=True)
JobIn = TypeVar("JobIn", contravariant=True)


class Worker(Protocol[JobIn, Result]):
    """What runs in the worker process."""

    def handle(self, job: JobIn) -> Result:
        """Do one job."""
        ...


@dataclass(frozen=True, slots=True)
class Died:
    """The worker ended while it did the job (a crash of native code, memory, an unforeseen error)."""

    exitcode: int | None


@dataclass(frozen=True, slots=True)
class _Told(Generic[Result]):
    """What comes through the pipe after each job."""

    result: Result
    outgrown: bool


class WorkerPool(Generic[Job, Result]):
    """`size` processes made by `start` (picklable: it runs in the worker and makes the Worker).

    One that outgrows its share of memory is ended after its job, and another made when there is work again;
    it is given `parting` before, whose result `each` tells.
    """

    def __init__(
        self,
        size: int,
        start: Callable[[], Worker[Job, Result]],
        manners: Manners | None = None,
        parting: Job | None = None,
    ) -> None:
        self._start = start
        self._manners = manners or Manners()
        self._parting = parting
        self._last_words: list[tuple[Job, Result | Died]] = []
        # spawn: a fork would copy locks held by the daemon's threads.
        self._context = multiprocessing.get_context("spawn")
        self._size = size
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._busy: dict[Connection, tuple[BaseProcess, Job]] = {}

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result | Died]]:
        """Every job with its result, in order of completion. Workers stay alive between calls."""
        waiting = deque(jobs)
        try:
            while waiting or self._busy:
                while waiting and (self._idle or len(self._busy) < self._size):
                    self._give(waiting.popleft())
                for ready in wait(list(self._busy)):
                    assert isinstance(ready, Connection)
                    yield self._take(ready)
        finally:  # whoever stopped listening must not hear these results as those of other jobs
            while self._busy:
                pipe, (process, _) = self._busy.popitem()
                _end(process, pipe)

    def each(self, job: Job) -> Iterator[tuple[Job, Result | Died]]:
        """The same job once to every live worker (all idle). First come the last words of those that have
        been replaced since."""
        everyone, self._idle = self._idle, []
        for process, pipe in everyone:
            pipe.send(job)
            self._busy[pipe] = (process, job)
        said, self._last_words = self._last_words, []
        return chain(said, self.run([]))

    def begin(self, job: Job) -> None:
        """Give out one job and return; `result` is asked until it has one. Not to be mixed with `run`."""
        self._give(job)

    def attend(self, job: Job, stopped: Callable[[], bool]) -> None:
        """Have one job done whose result is of no interest. Returns early once it is `stopped`: then nothing
        but `close` may follow."""
        if not stopped():
            self.begin(job)
            while not stopped() and self.result(_LOOK_S) is None:
                pass

    def result(self, timeout_s: float = 0.0) -> tuple[Job, Result | Died] | None:
        """A job that is done, with its result; None if there is none within the time."""
        for ready in wait(list(self._busy), timeout_s):
            assert isinstance(ready, Connection)
            return self._take(ready)
        return None

    def close(self) -> None:
        """End all workers now, whatever they do."""
        everyone = [*self._idle, *((process, pipe) for pipe, (process, _) in self._busy.items())]
        self._idle, self._busy = [], {}
        for process, pipe in everyone:
            pipe.close()
            process.kill()
        for process, _ in everyone:
            process.join()
            process.close()

    def _give(self, job: Job) -> None:
        process, pipe = self._idle.pop() if self._idle else self._spawn()
        try:
            pipe.send(job)
        except OSError:
            _end(process, pipe)
            process, pipe = self._spawn()
            pipe.send(job)
        self._busy[pipe] = (process, job)

    def _take(self, pipe: Connection) -> tuple[Job, Result | Died]:
        process, job = self._busy.pop(pipe)
        try:
            told: _Told[Result] = pipe.recv()
        except (EOFError, OSError):
            return job, Died(_end(process, pipe))
        if told.outgrown:
            self._part(process, pipe)
        else:
            self._idle.append((process, pipe))
        return job, told.result

    def _part(self, process: BaseProcess, pipe: Connection) -> None:
        """Its memory goes back to the system only with the process."""
        if self._parting is not None:
            # A worker that ends over it is one that died: what it had collected is lost.
            with contextlib.suppress(EOFError, OSError):
                pipe.send(self._parting)
                last: _Told[Result] = pipe.recv()
                self._last_words.append((self._parting, last.result))
        _end(process, pipe)

    def _spawn(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_serve, args=(theirs, self._start, self._manners), daemon=True, name="indexer-worker"
        )
        process.start()
        theirs.close()
        return process, ours


def _end(process: BaseProcess, pipe: Connection) -> int | None:
    pipe.close()
    process.kill()
    process.join()
    exitcode = process.exitcode
    process.close()
    return exitcode


def end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, however that came about. Else it would
    go on writing files that the next owner of the index believes to be its own."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_after, args=(parent.sentinel,), daemon=True).start()


def _exit_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _serve(pipe: Connection, start: Callable[[], Worker[Job, Result]], manners: Manners) -> None:
    """The worker's life: until the pipe closes, which also happens when the parent dies."""
    manners.adopt()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    end_with_parent()
    worker, appetite = start(), Appetite(manners.memory_bytes)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        result = worker.handle(job)
        pipe.send(_Told(result, appetite.is_too_much()))
