"""A build in a process of its own, so that searches keep their processor and a crash takes nothing along."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.errors import DiskFullError, UnavailableError
from vault_indexer.index.workers.job import Failed, run_job
from vault_indexer.index.workers.plan import limits_of
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.model import Progress, RebuildReport
from vault_indexer.store import Generation
from vault_indexer.system import ProcessLimits

log = logging.getLogger("vault_indexer.daemon")

Report = Callable[[Progress], None]
Built = tuple[Generation, RebuildReport]

_TRIES = 3
"""So often a build is begun that ends without a result, as one does that the system ends for its memory."""


@dataclass(frozen=True, slots=True)
class BuildJob:
    """Build the next generation, complete and not yet active."""

    assembly: Assembly
    recompute_weights: bool
    newest_only: bool
    better: bool = False

    def run(self, owner: _Owner) -> Built:
        return self.assembly.build_next(
            owner.report,
            recompute_weights=self.recompute_weights,
            newest_only=self.newest_only,
            better=self.better,
        )


class BuilderProcess:
    """One build that is under way. `poll` is called until it gives the result. A process that ends without
    one is replaced, and the build begins again. Raises ProcessError or OSError if no process can be started.
    """

    def __init__(self, job: BuildJob) -> None:
        self._run = partial(_build, job=job, limits=limits_of(job.assembly.settings.index))
        self._held = False
        self._tries = 1
        self._process = ChildProcess(self._run)

    def poll(self, report: Report) -> Built | None:
        """What the build gave, or None while it runs. Raises UnavailableError if it failed, or has ended
        without a result again and again."""
        while self._process.connection.poll() or not self._process.is_alive():
            try:
                message = self._process.receive()
            except (EOFError, OSError):
                self._begin_again(self._process.end())
                return None
            self._process.close_early_errors()
            if isinstance(message, Progress):
                report(message)
                continue
            self._process.join()
            if isinstance(message, Failed):
                if message.disk_full:
                    raise DiskFullError(message.reason, explained=True)
                raise UnavailableError(message.reason)
            built: Built = message
            return built
        return None

    def hold(self, held: bool) -> None:
        """Pause or resume the build. It pauses between two notes, and its workers once their batch is done.
        A paused build loses nothing and takes only memory."""
        self._held = held
        with contextlib.suppress(OSError):  # it has ended, which `poll` tells
            self._process.send(held)

    def kill(self) -> None:
        """End the build now. What it left is removed by the next one."""
        self._process.end()

    def _begin_again(self, end: str) -> None:
        if self._tries >= _TRIES:
            raise UnavailableError(f"the build ended without a result {_TRIES} times: {end}")
        self._tries += 1
        log.warning("the build ended without a result, and begins again: %s", end)
        self._process = ChildProcess(self._run)
        if self._held:
            self.hold(True)


class _Owner:
    """The other end of the connection: it hears how far the build is, and says when to rest."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def report(self, progress: Progress) -> None:
        """Tell; return when there is leave to go on. Raises EOFError or BrokenPipeError where nobody is."""
        self._connection.send(progress)
        held = False
        while self._connection.poll(None if held else 0):
            held = self._connection.recv()


def _build(connection: Connection, job: BuildJob, limits: ProcessLimits) -> None:
    limits.adopt()
    connection.send(run_job(job, _Owner(connection)))
