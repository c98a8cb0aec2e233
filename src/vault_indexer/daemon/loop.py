"""The daemon's loop: one thread that hears of changes, indexes them, and rebuilds when it must."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.builder import BuilderProcess
from vault_indexer.daemon.config_watch import ConfigWatch
from vault_indexer.daemon.embedding_task import EmbeddingTask
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.loop_request import LoopRequest
from vault_indexer.daemon.merge_task import MergeTask
from vault_indexer.daemon.pause import PAUSED, Pause
from vault_indexer.daemon.presence import IndexPresence
from vault_indexer.daemon.rechunk_task import RechunkTask
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.set_aside import SetAsideRetry
from vault_indexer.daemon.stall import STALLED_S, StallWatch
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.troubles import Cause, Troubles
from vault_indexer.errors import DamagedError, UnavailableError, VaultIndexerError
from vault_indexer.index.pool_plan import limits_of
from vault_indexer.model import Problem, Progress, RebuildReport
from vault_indexer.search import warm_in_background
from vault_indexer.store import index_errors
from vault_indexer.text.counts import quantity
from vault_indexer.vault.coalesce import Batch
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

_TICK_S = 0.25
_BUILDING_TICK_S = 0.05
_RETRY_BUILD_S = 60.0
_RETRY_BUILD_LATEST_S = 600.0
_RETRY_UNFIT_S = 3600.0
_LOOK_AGAIN_S = 5.0
_AGAIN_S = 3.0
_AGAIN_LATEST_S = 60.0


class IndexLoop:
    """Everything here runs in the one thread that `run` is called in, but for what is named otherwise."""

    def __init__(
        self,
        assembly: Assembly,
        vault_sync: VaultSync,
        watcher: VaultWatcher,
        lock: IndexLock,
        reasons: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.kept = vault_sync
        self.watcher = watcher
        self.left = 0
        self.unsynced = 0
        self.failure: VaultIndexerError | None = None
        self.happened: list[str] = []
        self.troubles = Troubles()
        self.stall = StallWatch(clock)
        self.progress: Progress | None = None
        self.reasons = reasons
        self.changed = threading.Condition()
        self.pause = Pause()
        self.backlog = EmbeddingTask()
        self.tidying = MergeTask(limits_of(assembly.settings.index))
        self.recuts = RechunkTask()
        self.set_aside = SetAsideRetry()
        self.scans_begun = 0
        self.scans_done = 0
        self._assembly = assembly
        self._builder: BuilderProcess | None = None
        self._catching_up = False
        self._builds: list[LoopRequest[RebuildReport]] = []
        self._checks: list[LoopRequest[tuple[Problem, ...]]] = []
        self._root = assembly.index_dir.root
        self._presence = IndexPresence(assembly.index_dir, lock)
        self._is_gone = False
        self._build_retry = Retry(self._root, _RETRY_BUILD_S, _RETRY_BUILD_LATEST_S)
        self._retry = Retry(self._root, _AGAIN_S, _AGAIN_LATEST_S)
        self._to_scan_again = False
        self._in_hand = 0
        self._failed_scans = -1
        self._clock = clock
        self._step_began: float | None = None
        self._mending: list[tuple[LoopRequest[tuple[Problem, ...]], tuple[Problem, ...]]] = []
        self._worker_is_cold = False
        self._config = ConfigWatch(assembly.config_files())
        self._stopping = False

    @property
    def building(self) -> bool:
        """Whether a build is under way, and not just the notes that it left for later. Any thread."""
        return self._is_gone or (self._builder is not None and not (self._catching_up and self.left))

    def ask_build(self, request: LoopRequest[RebuildReport]) -> None:
        """Have the next generation built. Any thread."""
        self._builds.append(request)

    def ask_check(self, request: LoopRequest[tuple[Problem, ...]]) -> None:
        """Have everything compared with everything. Any thread."""
        self._checks.append(request)

    def stop(self) -> None:
        """Let `run` return after the step it is in, and end a build. Any thread."""
        self._stopping = True
        self.pause.end()
        self.watcher.stop()

    def run(self) -> None:
        """Step after step until `stop`."""
        self._warm()
        while not self._stopping:
            try:
                with index_errors(self._root):
                    self._step()
            except Exception as error:  # noqa: BLE001 - logged; the loop outlives whatever one step meets
                self._fail(error)
            else:
                self._end_failure()
        self.tidying.end()
        if self._builder is not None:
            self._builder.kill()
        for build in self._builds:
            build.fail(UnavailableError("the daemon was stopped"))
        for check in [*self._checks, *(request for request, _ in self._mending)]:
            check.fail(UnavailableError("the daemon was stopped"))

    def pending(self) -> int:
        """Changes heard of, being read, failed, or held: read in the order in which they move on, so that
        none is missed between two of them. Any thread."""
        heard = self.watcher.pending
        under_way = max(int(self.watcher.at_work), self.left) + self.unsynced
        return heard + under_way + len(self.kept.hold)

    def awaited(self) -> str:
        """What changes that are pending wait for. Any thread."""
        began = self._step_began
        if self.kept.degraded:
            return f"the vault ({self.kept.degraded})"
        if self.building:
            return "the index to be built"
        if failure := self.troubles.get(Cause.INDEXING):
            return f"the next try ({failure})"
        if began is not None and self._clock() - began >= STALLED_S:
            return "a worker process that does not answer"
        if len(self.kept.hold):
            return f"{quantity(len(self.kept.hold), 'deletion')} held back, in case the files come back"
        return "files that are still being written"

    def _fail(self, error: Exception) -> None:
        """A step failed. What it was to do is done by a look at the whole vault, later and later."""
        foreseen = isinstance(error, VaultIndexerError | OSError)
        self.troubles.begin_with(Cause.INDEXING, "indexing failed", error)
        log.error("%s", self.troubles.get(Cause.INDEXING), exc_info=None if foreseen else error)
        if isinstance(error, DamagedError):
            self.reasons = (str(error),)
        self.unsynced, self._in_hand, self.left = self.unsynced + self._in_hand, 0, 0
        self._failed_scans = self.scans_begun
        self._to_scan_again = True
        self._retry.failed(error)

    def _end_failure(self) -> None:
        """A step succeeded: if the vault was looked at since the last failure, that has ended."""
        if self.scans_done > self._failed_scans and not self._to_scan_again:
            self.troubles.end(Cause.INDEXING)
            self._retry.reset()

    def _step(self) -> None:
        """Wait for something to do, and do it."""
        self._step_began = None
        self.stall.observe(self.pending())
        batch = self.watcher.next_batch(self._patience())
        self._step_began = self._clock()
        self._rest(batch)
        self._restore_if_gone()
        self._reload_if_changed()
        self._start_build()
        self._follow_build()
        self._run_checks()
        if batch is not None and not self._stopping:
            self._sync(batch)
            self.watcher.settled()
        self._warm_worker()
        self._look_again()
        self._scan_again()
        if not (self._stopping or self._is_gone or self._to_scan_again):
            self._work_off(batch)

    def _work_off(self, batch: Batch | None) -> None:
        """What is done after edits, and waits for the next try where a step has failed."""
        # After edits; not beside a build, which makes the same vectors.
        idle = batch is None and self._builder is None
        self.backlog.step(self.kept.current, idle=idle and not self.set_aside.busy)
        self.set_aside.step(self.kept, idle=idle and not self.backlog.busy)
        live = self.kept.current.writer if self.kept.current else None
        self.tidying.step(live, idle=idle and not self.backlog.busy)
        self.recuts.step(self.kept, idle=idle)
        self.kept.release_due()
        self.kept.purge_if_needed()

    def _scan_again(self) -> None:
        if self._to_scan_again and self._retry.is_due:
            self._to_scan_again = False
            self.watcher.request_scan("after an error")

    def _restore_if_gone(self) -> None:
        """An index that was deleted is built again, while the old one answers from its open files. If that
        does not help, the daemon has to end: `failure` says why."""
        in_force = self.kept.current.generation if self.kept.current and not self._is_gone else None
        loss = self._presence.loss(in_force)
        if not loss or self._stopping:
            return
        log.error("%s: it is built again", loss)
        self.tidying.end()
        if self._builder is not None:
            self._builder.kill()
            self._builder, self.progress = None, None
        try:
            self._presence.restore(loss)
        except VaultIndexerError as error:
            self.failure, self._stopping = error, True
            return
        self._is_gone = True
        self.reasons = (loss,)
        self._build_retry.reset()
        self.troubles.begin(Cause.INDEX_GONE, f"{loss}: it is built again")

    def _warm(self) -> None:
        """Nobody shall wait for what the first search and the first edit have to load."""
        if self.kept.current is not None:
            warm_in_background(self.kept.current.reader)
            self._worker_is_cold = True

    def _warm_worker(self) -> None:
        """After the step at hand: starting a process takes longer than to see that nothing has changed."""
        if self._worker_is_cold and self.kept.current is not None:
            self._worker_is_cold = False
            self.kept.current.writer.warm(lambda: self._stopping)

    def _rest(self, batch: Batch | None = None) -> None:
        """Hold here while indexing is paused, and have a build hold, too. The watcher goes on hearing of
        changes, and keeps them; the batch in hand is kept here. What is asked for meanwhile is refused: it
        would be the very work that the user does not want now, or compare the vault with an index that may
        not follow it."""
        if not self.pause.active:
            return
        if batch is not None:
            self.left = len(batch.scope)
        self.tidying.end()
        if self._builder is not None:
            self._builder.hold(True)
        while self.pause.active and not self._stopping:
            self._refuse()
            self.stall.observe(0, resting=True)
            self.pause.wait(_TICK_S)
        self._step_began = self._clock()
        if self._builder is not None:
            self._builder.hold(False)

    def _refuse(self) -> None:
        builds = [request for request in self._builds if not request.started]
        self._builds = [request for request in self._builds if request.started]
        checks, self._checks = self._checks, []
        for build in builds:
            build.fail(UnavailableError(PAUSED))
        for check in checks:
            check.fail(UnavailableError(PAUSED))

    def _look_again(self) -> None:
        """Losses that were not believed are looked at a second time."""
        if self.kept.degraded and time.monotonic() >= self.kept.confirm_at:
            self.kept.confirm_at = time.monotonic() + _LOOK_AGAIN_S
            self.watcher.request_scan("to look again at what is missing")

    def _patience(self) -> float:
        if self._builder is not None or self.backlog.busy:
            return _BUILDING_TICK_S
        due = self.kept.hold.next_due()
        return _TICK_S if due is None else min(_TICK_S, max(0.0, due - time.monotonic()))

    def _sync(self, batch: Batch) -> None:
        if self._is_gone:
            self.unsynced += len(batch.scope)  # a look at the whole vault follows the build
            return
        self._in_hand = max(1, len(batch.scope))
        if batch.control:
            self.tidying.end()  # what it writes could be what the rules now exclude
            self._reload_rules()
        self.scans_begun += batch.scan_all
        before = self.kept.current
        _, found = self.kept.sync(batch.scope, self._set_left, self._sync_few)
        self.left = self._in_hand = 0
        if self.kept.current is not None and self.kept.current is not before:  # its manifest says more now
            self._use_reasons(self.kept.current.reasons)
        if batch.scan_all:
            self.unsynced = 0
            if found is not None:
                self.watcher.scanned(found.seconds)
            with self.changed:
                self.scans_done = self.scans_begun
                self.changed.notify_all()

    def _sync_few(self) -> None:
        """A few saves do not wait until all of a checkout, or of a large vault, is in."""
        few = self.watcher.take_few()
        if few and not self._stopping:
            self.kept.sync(few)

    def _set_left(self, left: int) -> None:
        """Told after each note that was read, before anything of its part is written: so a pause holds
        within a long batch, too."""
        self.left = left
        self.stall.observe(self.pending())
        self._step_began = self._clock()
        self._rest()

    def _set_left_of_build(self, left: int) -> None:
        self._catching_up = True
        self._set_left(left)

    def _start_build(self) -> None:
        """A build that is asked for, or that the manifest asks for; one that is under way serves both."""
        if self._builder is not None:
            return
        needed = bool(self.reasons) and self._build_retry.is_due
        if self._builds or (needed and not self.kept.has_unconfirmed_losses()):
            log.info("building: %s", "; ".join(self.reasons) or "as asked")
            refit = self.kept.current is None or any(request.refit for request in self._builds)
            soon = self.kept.current is None and not self._builds  # nothing else answers meanwhile
            self._builder = BuilderProcess(self._assembly, refit=refit, soon=soon)
            for request in self._builds:
                request.started = True

    def _follow_build(self) -> None:
        if self._builder is None:
            return
        try:
            with index_errors(self._root):
                done = self._builder.poll(self._set_progress)
                if done is None:
                    return
                self.kept.assembly = self._assembly
                self.kept.activate(done[0], self._set_left_of_build, self._sync_few)
            self._warm()
        except VaultIndexerError as error:
            self._end_build(error=error)
        else:
            self._end_loss()
            self._end_build(done[1])
            self._expect_fit()

    def _end_loss(self) -> None:
        """A new generation is in force, with all that changed meanwhile."""
        self.unsynced = 0
        if self._is_gone:
            self._is_gone = False
            self.happened.append(f"rebuilt: {self.reasons[0]}" if self.reasons else "rebuilt")
            self.troubles.end(Cause.INDEX_GONE)

    def _use_reasons(self, reasons: tuple[str, ...]) -> None:
        """Why the generation in force does not fit (empty: it does), after something has changed."""
        self.reasons = reasons
        self._build_retry.reset()
        if not reasons:
            self.troubles.end(Cause.BUILD, Cause.UNFIT)

    def _expect_fit(self) -> None:
        """A generation just built fits, unless the program was replaced under the running daemon: then
        building again and again would not help."""
        self.reasons = self.kept.current.reasons if self.kept.current else ()
        if self.reasons:
            self._build_retry.wait(_RETRY_UNFIT_S)
            text = f"restart the daemon: what it builds does not fit it ({'; '.join(self.reasons)})"
            self.troubles.begin(Cause.UNFIT, text)
            log.error("%s", text)

    def _set_progress(self, progress: Progress) -> None:
        self.progress = progress
        for request in self._builds:
            if request.started:
                request.report(progress)

    def _end_build(self, report: RebuildReport | None = None, error: VaultIndexerError | None = None) -> None:
        self._builder, self.progress = None, None
        self._catching_up, self.left = False, 0
        ended = [request for request in self._builds if request.started]
        self._builds = [request for request in self._builds if not request.started]
        if error is None:
            self._build_retry.reset()
            self.troubles.end(Cause.BUILD, Cause.UNFIT)
        else:
            log.error("the rebuild failed: %s", error)
            self._build_retry.failed(error)
            if self.reasons or self.kept.current is None:  # else only who asked for it has to know
                self.troubles.begin_with(Cause.BUILD, "the rebuild failed", error)
        for request in ended:
            request.give(report) if report else request.fail(
                error or UnavailableError("the build has no result")
            )
        mended, self._mending = self._mending, []
        for check, found in mended:
            check.give(found) if report else check.fail(error or UnavailableError("the build has no result"))

    def _run_checks(self) -> None:
        waiting, self._checks = self._checks, []
        for request in waiting:
            try:
                with index_errors(self._root):
                    found = self.kept.verify(repair=request.repair)
            except VaultIndexerError as error:
                request.fail(error)
                continue
            if self.kept.damaged:
                self._use_reasons((self.kept.damaged,))
            if self.kept.damaged and request.repair:
                self._mending.append((request, found))  # answered when the rebuild is done
            else:
                request.give(found)

    def _reload_rules(self) -> None:
        rules = load_ignore_rules(self._assembly.vault, self._assembly.settings.files)
        if rules.fingerprint != self.kept.rules.fingerprint:
            self.kept.rules = rules
            self.watcher.use_rules(rules)

    def _reload_if_changed(self) -> None:
        """A changed configuration counts at once. One that cannot be used is named until it is mended, and
        the old one stays in force."""
        if not self._config.changed():
            return
        for path in self._config.disappeared:
            log.warning("the configuration %s is gone", path)
        try:
            assembly = self._assembly.reloaded()
            current = assembly.reconfigured(self.kept.current) if self.kept.current else None
        except VaultIndexerError as error:
            self.troubles.begin_with(Cause.CONFIG, "the changed configuration is not used", error)
            log.error("%s", self.troubles.get(Cause.CONFIG))
            return
        self.troubles.end(Cause.CONFIG)
        self.happened += [f"the configuration {path} is gone" for path in self._config.disappeared]
        self._assembly = self.kept.assembly = assembly
        self._reload_rules()
        if current is not None:
            self.kept.current = current
        if current is not None and not self._is_gone:
            self._use_reasons(current.reasons)
