"""A build in a process of its own, so that searches keep their processor and a crash takes nothing along."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.errors import UnavailableError, VaultIndexerError
from vault_indexer.index.workers import end_with_parent
from vault_indexer.model import Progress, RebuildReport
from vault_indexer.store.generations import Generation

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Built:
    generation: Generation
    report: RebuildReport


@dataclass(frozen=True, slots=True)
class _Failed:
    message: str


class BuilderProcess:
    """One build that is under way. `poll` is called until it gives the result."""

    def __init__(self, assembly: Assembly, *, refit: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # Not daemonic: it has worker processes itself. It ends when its pipe breaks.
        self._process = context.Process(target=_build, args=(theirs, assembly, refit), name="indexer-build")
        self._process.start()
        theirs.close()

    def poll(self, report: Report, timeout: float = 0.0) -> tuple[Generation, RebuildReport] | None:
        """What the build gave, or None while it runs. Raises UnavailableError if it failed."""
        while self._pipe.poll(timeout):
            try:
                told = self._pipe.recv()
            except (EOFError, OSError) as error:
                self.kill()
                raise UnavailableError("the build ended without a result") from error
            if isinstance(told, Progress):
                report(told)
                continue
            self._process.join()
            if isinstance(told, _Failed):
                raise UnavailableError(told.message)
            assert isinstance(told, _Built)
            return told.generation, told.report
        return None

    def kill(self) -> None:
        """End the build now. What it left is removed by the next one."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


def _build(pipe: Connection, assembly: Assembly, refit: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    try:
        generation, report = assembly.build_next(pipe.send, refit=refit)
        pipe.send(_Built(generation, report))
    except BrokenPipeError:
        return  # nobody waits any more
    except (VaultIndexerError, OSError) as error:
        pipe.send(_Failed(str(error)))
