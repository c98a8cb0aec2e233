"""Builds the next generation when it is needed or requested, and makes it the active one."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Assembly, Report
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.state import Cause, StateHolder
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.errors import DiskFullError, UnavailableError, VaultError, VaultIndexerError
from vault_indexer.index.workers.budget import limits_of
from vault_indexer.index.workers.pool import Failed, Slots, run_job
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.model import Problem, Progress, RebuildReport
from vault_indexer.store import Generation, index_errors
from vault_indexer.system import ProcessLimits, record

log = logging.getLogger("vault_indexer.daemon")

STOPPED = "the daemon was stopped"
"""The reason given to requests that are refused after a stop."""

_TRIES = 3
"""The number of attempts for a build that ends without a result, for example because the system killed it for
its memory."""

_RETRY_S = 60.0
_RETRY_LATEST_S = 600.0
_RETRY_UNFIT_S = 3600.0

Problems = tuple[Problem, ...]
Built = tuple[Generation, RebuildReport]


@dataclass(eq=False)
class BuildRequest:
    report: Report = lambda _progress: None
    options: RebuildOptions = field(default_factory=lambda: RebuildOptions(refit=False))
    answer: Future[RebuildReport] = field(default_factory=Future)


@dataclass(eq=False)
class CheckRequest:
    report: Report = lambda _progress: None
    repair: bool = False
    answer: Future[Problems] = field(default_factory=Future)


LoopRequest = BuildRequest | CheckRequest


class RequestQueue:
    """A queue of requests for the loop. Thread-safe. After `close`, each request is refused at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[LoopRequest] = []
        self._closed = False

    def put(self, request: LoopRequest) -> None:
        with self._lock:
            if not self._closed:
                self._waiting.append(request)
                return
        request.answer.set_exception(UnavailableError(STOPPED))

    def take(self) -> LoopRequest | None:
        with self._lock:
            return self._waiting.pop(0) if self._waiting else None

    def refuse(self, error: VaultIndexerError) -> None:
        while request := self.take():
            request.answer.set_exception(error)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self.refuse(UnavailableError(STOPPED))


@record
class BuildJob:
    """A job that builds the next generation, complete and not yet active."""

    assembly: Assembly
    recompute_weights: bool
    newest_only: bool
    better: bool = False

    def run(self, owner: _Owner) -> Built:
        weights, newest_only, better = self.recompute_weights, self.newest_only, self.better
        return self.assembly.build_next(
            owner.report, recompute_weights=weights, newest_only=newest_only, better=better
        )


class BuilderProcess:
    """A build in a process of its own, so that searches keep their processor. The owner calls `poll` until it
    returns the result. A process that ends without a result is replaced, and the build begins again. Raises
    ProcessError or OSError if no process can be started."""

    def __init__(self, job: BuildJob) -> None:
        self._run = partial(_build, job=job, limits=limits_of(job.assembly.settings.index))
        self._held = False
        self._tries = 1
        self._process = ChildProcess(self._run)

    def poll(self, report: Report) -> Built | None:
        """Returns the result of the build, or None while it runs. Raises DiskFullError if the disk is full,
        and UnavailableError if the build failed or has ended without a result too often."""
        # What the process sent before it ended is still read.
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
        """Pauses or resumes the build. It pauses between two notes, and its workers once their batch is done.
        A paused build loses nothing and takes only memory."""
        self._held = held
        with contextlib.suppress(OSError):  # the process has ended, and `poll` reports that
            self._process.send(held)

    def kill(self) -> None:
        """Ends the build now. The next build removes its files."""
        self._process.end()

    def _begin_again(self, end: str) -> None:
        if self._tries >= _TRIES:
            raise UnavailableError(f"the build ended without a result {_TRIES} times: {end}")
        self._tries += 1
        log.warning("the build ended without a result and will be restarted: %s", end)
        self._process = ChildProcess(self._run)
        # The new process does not know that the build is paused.
        if self._held:
            self.hold(True)


class _Owner:
    """The owner of the build, at the other end of the connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def report(self, progress: Progress) -> None:
        """Sends the progress, and waits while the daemon has paused the build. Raises EOFError or
        BrokenPipeError if the daemon has ended."""
        self._connection.send(progress)
        held = False
        while self._connection.poll(None if held else 0):
            held = self._connection.recv()


def _build(connection: Connection, job: BuildJob, limits: ProcessLimits) -> None:
    limits.adopt()
    connection.send(run_job(job, _Owner(connection)))


@record
class RebuildResult:
    """The result of a build. With a `report` its generation is active; otherwise `error` is the failure.
    `reasons` explain why the build was needed (empty: it was only requested)."""

    reasons: tuple[str, ...]
    report: RebuildReport | None = None
    error: VaultIndexerError | None = None


class RebuildTask:
    """Runs one build at a time in a separate process, on request or for `reasons`.

    The daemon's loop owns it and calls it from its thread. A build that fails leaves the active generation
    unchanged, and is retried later while `state` contains reasons. `step` returns the result, and `answer`
    passes it to the requesters, so that the loop can publish its state before they receive it.
    """

    def __init__(self, vault_sync: VaultSync, state: StateHolder, slot: Slots) -> None:
        self.catching_up = False
        self._vault_sync = vault_sync
        self._state = state
        self._root = vault_sync.assembly.index_dir.root
        self._builder: BuilderProcess | None = None
        self._waiting: list[BuildRequest] = []
        self._started: list[BuildRequest] = []
        self._repairs: list[tuple[CheckRequest, Problems]] = []
        self._retry = Retry(_RETRY_S, _RETRY_LATEST_S, folder=self._root)
        self._slot = slot
        self._waits_for_slot = False

    @property
    def busy(self) -> bool:
        """Whether a build is running or waits for the build of another vault."""
        return self._builder is not None or self._waits_for_slot

    def request(self, request: BuildRequest) -> None:
        self._waiting.append(request)

    def answer_after_repair(self, request: CheckRequest, problems: Problems) -> None:
        self._repairs.append((request, problems))

    def use_reasons(self, reasons: tuple[str, ...]) -> None:
        """Sets the reasons why the active generation does not fit (empty: it fits), and retries at once."""
        self._state.change(reasons=reasons)
        self._retry.reset()
        if not reasons:
            self._state.end_faults(Cause.BUILD, Cause.UNFIT)

    def step(
        self, on_progress: Callable[[int], None], between_parts: Callable[[], None]
    ) -> RebuildResult | None:
        """Begins a build if one is needed or requested, and polls a running one.

        A finished build is activated here, with the changes made meanwhile. `on_progress` receives the number
        of remaining notes, and `between_parts` is called as in VaultSync.sync. Returns None while there is no
        result.
        """
        if self._builder is None:
            self._begin()
        if self._builder is None:
            return None

        def catch_up(remaining: int) -> None:
            self.catching_up = True
            on_progress(remaining)

        reasons = self._state.next.reasons
        try:
            with index_errors(self._root):
                built = self._builder.poll(self._report)
                if built is None:
                    return None
                self._vault_sync.activate(*built, catch_up, between_parts)
        except VaultIndexerError as error:
            self._fail(error)
            return RebuildResult(reasons, error=error)
        self._succeed()
        return RebuildResult(reasons, report=built[1])

    def answer(self, result: RebuildResult) -> None:
        # Emptied first: an answered caller may request the next build at once.
        ended, self._started = self._started, []
        repaired, self._repairs = self._repairs, []
        error = result.error or UnavailableError("the build has no result")
        waiting: list[tuple[Future[Any], object]] = [(request.answer, result.report) for request in ended]
        waiting += [(check.answer, problems) for check, problems in repaired]
        for answer, value in waiting:
            if result.report:
                answer.set_result(value)
            else:
                answer.set_exception(error)

    def hold(self, held: bool) -> None:
        """Pauses or resumes the build. A paused build lets other vaults build."""
        if self._builder is not None:
            self._builder.hold(held)
        if held:
            self._slot.release(self)

    def refuse(self, error: VaultIndexerError) -> None:
        refused, self._waiting = self._waiting, []
        for request in refused:
            request.answer.set_exception(error)

    def kill(self) -> None:
        """Ends the running build. The next build answers its requests."""
        if self._builder is not None:
            self._builder.kill()
        self._end_build()

    def end(self) -> None:
        """Ends the build and fails every request, because the daemon stops."""
        self.kill()
        self._started += self._waiting
        self.answer(RebuildResult((), error=UnavailableError(STOPPED)))

    def _begin(self) -> None:
        reasons = self._state.next.reasons
        needed = bool(reasons) and self._retry.is_due
        if needed and not (self._waiting or self._started):
            needed = not self._vault_sync.has_unconfirmed_losses()
            if self._vault_sync.documents_wait:  # the build would read them
                self._retry.wait(_RETRY_S)
                needed = False
        if not (self._waiting or self._started or needed):
            self._waits_for_slot = False
            return
        # Busy while it waits, so that background tasks do not compute what the build will.
        self._waits_for_slot = not self._slot.try_acquire(self)
        if self._waits_for_slot:
            return
        self._started += self._waiting
        self._waiting = []
        # Only now: the vault may have come back while the request waited.
        self._refuse_losses()
        if not (self._started or needed):
            self._slot.release(self)
            return
        log.info("building: %s", "; ".join(reasons) or "as requested")
        is_first = self._vault_sync.current is None
        recompute_weights = is_first or any(request.options.refit for request in self._started)
        better = any(request.options.better for request in self._started)
        # No index answers searches yet, so the first build is limited to the newest part of the vault.
        soon = is_first and not self._started
        job = BuildJob(self._vault_sync.assembly, recompute_weights, soon, better)
        try:
            self._builder = BuilderProcess(job)
        except BaseException:
            # Without a builder, no later step would end this build.
            self._slot.release(self)
            raise

    def _refuse_losses(self) -> None:
        """Fails requests for a rebuild if the vault has suddenly lost notes or cannot be read."""
        cautious = [request for request in self._started if not request.options.force]
        if not cautious:
            return
        try:
            self._vault_sync.check_losses()
        except VaultError as error:
            self._started = [request for request in self._started if request.options.force]
            for request in cautious:
                request.answer.set_exception(error)

    def _report(self, progress: Progress) -> None:
        self._state.change(progress=progress)
        for request in self._started:
            request.report(progress)

    def _end_build(self) -> None:
        self._builder, self.catching_up = None, False
        self._state.change(progress=None)
        self._slot.release(self)

    def _succeed(self) -> None:
        self._end_build()
        self._retry.reset()
        self._state.end_faults(Cause.BUILD, Cause.UNFIT)
        current = self._vault_sync.current
        reasons = current.reasons if current else ()
        self._state.change(reasons=reasons)
        if reasons:
            # The program was replaced while the daemon was running, so further builds would not help.
            self._retry.wait(_RETRY_UNFIT_S)
            text = f"restart the daemon: its builds are incompatible with it ({'; '.join(reasons)})"
            self._state.begin_fault(Cause.UNFIT, text)
            log.error("%s", text)

    def _fail(self, error: VaultIndexerError) -> None:
        self._end_build()
        log.error("the rebuild failed: %s", error)
        self._retry.record_failure(error)
        # Otherwise only the requester is told.
        if self._state.next.reasons or self._vault_sync.current is None:
            self._state.begin_fault_with(Cause.BUILD, "the rebuild failed", error)
