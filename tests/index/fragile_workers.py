"""What the workers of `test_index_workers_pool.py` do: start badly, die, take too much. They import it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.index.workers.budget import Mark, NoteMeter
from vault_indexer.system.processes import own_usage

MB = 1 << 20


class Fragile:
    """Answers a job with itself and the process's id, unless the job says otherwise."""

    def __init__(self) -> None:
        self._meter = NoteMeter(own_usage)
        self._kept: list[bytes] = []

    def report_reading(self, report: Callable[[Mark], None]) -> None:
        self._meter.report = report

    def handle(self, job: str) -> tuple[str, int]:
        if job == "before":  # not within the budget
            self._kept.append(b"x" * (150 * MB))
        if job == "farewell":  # reads no note
            return job, os.getpid()
        with self._meter.reading(job):
            if job.startswith("die"):
                os.kill(os.getpid(), signal.SIGKILL)
            if job == "raise":
                raise RecursionError("too deep")
            if job == "spin":  # native code that does not let other threads run
                re.match(r"(a+)+$", "a" * 60 + "b")
            if job == "hoard":
                while True:
                    self._kept.append(b"x" * MB)
        return job, os.getpid()


def start_fragile() -> Fragile:
    return Fragile()


@dataclass(frozen=True)
class StartsSecond:
    """The first worker is killed before it has begun. `ballast` is more than a pipe holds."""

    flag: Path
    ballast: bytes = b"x" * MB

    def __call__(self) -> Fragile:
        if not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Fragile()


def start_never() -> Fragile:
    print("the library is broken", file=sys.stderr, flush=True)
    os._exit(3)


def start_and_raise() -> Fragile:
    raise ValueError("no such model")


class KilledBeforeUnpickled:
    """Ends the process that receives it, as a library does that crashes when it is imported."""

    ballast = b"x" * MB

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return _crash, (self.ballast.decode(),)

    def __call__(self) -> Fragile:
        return Fragile()


class LeavesChildBeforeUnpickled:
    """Ends the process that receives it without a word, and leaves one behind that holds its standard error
    and ends with its parent."""

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return _leave_child, ()

    def __call__(self) -> Fragile:
        return Fragile()


def _leave_child() -> object:
    lifeline = int(sys.argv[3])
    subprocess.Popen(["cat"], stdin=lifeline, stdout=subprocess.DEVNULL)
    os._exit(5)


def _crash(_: str) -> object:
    print("Illegal instruction", file=sys.stderr, flush=True)
    os._exit(4)
