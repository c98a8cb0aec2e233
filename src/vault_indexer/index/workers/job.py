"""The protocol for all work in other processes: a job runs there and its outcome is sent back.

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
    """A job. Both the job and its result must be picklable."""

    def run(self, worker: WorkerIn) -> ResultOut:
        """Run the job in the process. `worker` contains the state that jobs share. Raises VaultIndexerError
        or OSError for errors that concern more than one note."""
        ...


@dataclass(frozen=True, slots=True)
class Failed:
    """The outcome of a job that a foreseen error ended, such as an error of the model or the disk. `reason`
    is one line."""

    reason: str
    disk_full: bool = False


@dataclass(frozen=True, slots=True)
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
    """Run a job in this process, and return its result or the foreseen error that ended it."""
    try:
        return job.run(worker)
    except (VaultIndexerError, OSError) as error:
        is_full = isinstance(error, DiskFullError) or getattr(error, "errno", None) in FULL_ERRORS
        return Failed(str(error), disk_full=is_full)


class JobWorker:
    """A worker without state between jobs."""

    def handle(self, job: Runnable[JobWorker, ResultOut]) -> ResultOut | Failed:
        """Run the job as `run_job` does."""
        return run_job(job, self)
