"""A build in a process of its own, so that searches keep their processor and a crash takes nothing along."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.errors import DiskFullError, UnavailableError, VaultIndexerError
from vault_indexer.index.manners import Manners
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
    disk_full: bool = False


class BuilderProcess:
    """One build that is under way. `poll` is called until it gives the result."""

    def __init__(self, assembly: Assembly, *, refit: bool, soon: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # Not daemonic: it has worker processes itself. It ends when its pipe breaks.
        build = partial(assembly.build_next, refit=refit, soon=soon)
        manners = Manners.of(assembly.settings.index)
        self._process = context.Process(target=_build, args=(theirs, build, manners), name="indexer-build")
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
                if told.disk_full:
                    raise DiskFullError(told.message, explained=True)
                raise UnavailableError(told.message)
            assert isinstance(told, _Built)
            return told.generation, told.report
        return None

    def hold(self, held: bool) -> None:
        """Have the build rest, or go on. It rests between two notes, and its workers once their batch is
        done; nothing is lost, and nothing but memory is taken meanwhile."""
        with contextlib.suppress(OSError):  # it has ended, which `poll` tells
            self._pipe.send(held)

    def kill(self) -> None:
        """End the build now. What it left is removed by the next one."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


class _Owner:
    """The other end of the pipe: it hears how far the build is, and says when to rest."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def report(self, progress: Progress) -> None:
        """Tell; return when there is leave to go on. Raises EOFError or BrokenPipeError where nobody is."""
        self._pipe.send(progress)
        held = False
        while self._pipe.poll(None if held else 0):
            held = self._pipe.recv()


def _build(
    pipe: Connection, build: Callable[[Report], tuple[Generation, RebuildReport]], manners: Manners
) -> None:
    manners.adopt()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    try:
        generation, report = build(_Owner(pipe).report)
        pipe.send(_Built(generation, report))
    except (BrokenPipeError, EOFError):
        return  # nobody waits any more
    except (VaultIndexerError, OSError) as error:
        pipe.send(_Failed(str(error), disk_full=isinstance(error, DiskFullError)))
