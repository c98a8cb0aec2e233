"""One protocol for all work that is done in another process: a job runs there, and its outcome comes back.

The outcome is the job's result, or Failed, or Died.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from vault_indexer.errors import DiskFullError, VaultIndexerError
from vault_indexer.system import FULL_ERRORS

WorkerIn = TypeVar("WorkerIn", contravariant=True)
ResultOut = TypeVar("ResultOut", covariant=True)


class Runnable(Protocol[WorkerIn, ResultOut]):
    """A job: picklable, and so is its result."""

    def run(self, worker: WorkerIn) -> ResultOut:
        """In the process, whose worker has what jobs share. Raises VaultIndexerError or OSError for what
        concerns more than one note."""
        ...


@dataclass(frozen=True, slots=True)
class Failed:
    """A foreseen error ended the job (the model, the disk): one clear line."""

    reason: str
    disk_full: bool = False


@dataclass(frozen=True, slots=True)
class Died:
    """The worker ended while it did the job: a crash of native code, memory, an unforeseen error, a signal.

    `fresh` says that it was the first job of the worker. `excess` says what the job took too much of, where
    it was ended for that; `end` how the process ended. `slow_note` is the note of the job that took too much
    processor time.
    """

    end: str = ""
    fresh: bool = False
    excess: str = ""
    slow_note: str = ""

    @property
    def reason(self) -> str:
        return self.excess or self.end or "the worker process ended"


def run_job(job: Runnable[WorkerIn, ResultOut], worker: WorkerIn) -> ResultOut | Failed:
    """The result of a job, in the process that does it, or why there is none."""
    try:
        return job.run(worker)
    except (VaultIndexerError, OSError) as error:
        is_full = isinstance(error, DiskFullError) or getattr(error, "errno", None) in FULL_ERRORS
        return Failed(str(error), disk_full=is_full)


class JobWorker:
    """The worker of a process that holds nothing between two jobs."""

    def handle(self, job: Runnable[JobWorker, ResultOut]) -> ResultOut | Failed:
        """As `run_job`."""
        return run_job(job, self)
