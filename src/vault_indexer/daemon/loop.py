"""The daemon's loop: one thread that hears of changes, indexes them, and rebuilds when it must."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from vault_indexer.daemon.asked import Asked
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.backlog import Backlog
from vault_indexer.daemon.builder import BuilderProcess
from vault_indexer.daemon.keep import KeptIndex
from vault_indexer.daemon.pause import PAUSED, Pause
from vault_indexer.daemon.recuts import Recuts
from vault_indexer.daemon.set_aside import SetAsideRetry
from vault_indexer.daemon.tidying import Tidying
from vault_indexer.errors import ConfigError, DamagedError, VaultIndexerError
from vault_indexer.index.manners import Manners
from vault_indexer.model import Problem, Progress, RebuildReport
from vault_indexer.search.warm import warm_beside
from vault_indexer.vault.coalesce import Batch
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

_TICK_S = 0.25
_BUILDING_TICK_S = 0.05
_RETRY_BUILD_S = 60.0
_RETRY_UNFIT_S = 3600.0
_LOOK_AGAIN_S = 5.0
_AGAIN_S = 3.0


class IndexLoop:
    """Everything here runs in the one thread that `run` is called in, but for what is named otherwise."""

    def __init__(
        self, assembly: Assembly, kept: KeptIndex, watcher: VaultWatcher, reasons: tuple[str, ...]
    ) -> None:
        self.kept = kept
        self.watcher = watcher
        self.left = 0
        self.trouble = ""
        self.progress: Progress | None = None
        self.reasons = reasons
        self.changed = threading.Condition()
        self.pause = Pause()
        self.backlog = Backlog()
        self.tidying = Tidying(Manners.of(assembly.settings.index))
        self.recuts = Recuts()
        self.set_aside = SetAsideRetry()
        self.scans_begun = 0
        self.scans_done = 0
        self._assembly = assembly
        self._builder: BuilderProcess | None = None
        self._catching_up = False
        self._builds: list[Asked[RebuildReport]] = []
        self._checks: list[Asked[tuple[Problem, ...]]] = []
        self._retry_at = 0.0
        self._again_at: float | None = None
        self._mending: list[tuple[Asked[tuple[Problem, ...]], tuple[Problem, ...]]] = []
        self._worker_is_cold = False
        self._config_seen = self._config_times()
        self._stopping = False

    @property
    def building(self) -> bool:
        """Whether a build is under way, and not just the notes that it left for later. Any thread."""
        return self._builder is not None and not (self._catching_up and self.left)

    def ask_build(self, asked: Asked[RebuildReport]) -> None:
        """Have the next generation built. Any thread."""
        self._builds.append(asked)

    def ask_check(self, asked: Asked[tuple[Problem, ...]]) -> None:
        """Have everything compared with everything. Any thread."""
        self._checks.append(asked)

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
                self._step()
            except Exception as error:  # the loop must outlive whatever one step meets
                foreseen = isinstance(error, VaultIndexerError | OSError)
                log.error("indexing failed: %s", error, exc_info=not foreseen)
                self.trouble = f"indexing failed: {error}"
                if isinstance(error, DamagedError):
                    self.reasons = (str(error),)
                self._again_at = time.monotonic() + _AGAIN_S
        self.tidying.end()
        if self._builder is not None:
            self._builder.kill()
        for build in self._builds:
            build.fail("the daemon was stopped")
        for check in [*self._checks, *(asked for asked, _ in self._mending)]:
            check.fail("the daemon was stopped")

    def _step(self) -> None:
        """Wait for something to do, and do it."""
        batch = self.watcher.next_batch(self._patience())
        self._rest(batch)
        self._reload_if_changed()
        self._start_build()
        self._follow_build()
        self._run_checks()
        if batch is not None and not self._stopping:
            self._sync(batch)
            self.watcher.settled()
        self._warm_worker()
        if self._stopping:
            return
        # After edits; not beside a build, which makes the same vectors.
        idle = batch is None and self._builder is None
        self.backlog.step(self.kept.current, idle=idle and not self.set_aside.busy)
        self.set_aside.step(self.kept, idle=idle and not self.backlog.busy)
        live = self.kept.current.live if self.kept.current else None
        self.tidying.step(live, idle=idle and not self.backlog.busy)
        self.recuts.step(self.kept, idle=idle)
        self.kept.release_due()
        self.kept.purge_if_needed()
        self._look_again()
        if self._again_at is not None and time.monotonic() >= self._again_at:
            self._again_at = None
            self.watcher.request_scan("after an error")

    def _warm(self) -> None:
        """Nobody shall wait for what the first search and the first edit have to load."""
        if self.kept.current is not None:
            warm_beside(self.kept.current.opened)
            self._worker_is_cold = True

    def _warm_worker(self) -> None:
        """After the step at hand: starting a process takes longer than to see that nothing has changed."""
        if self._worker_is_cold and self.kept.current is not None:
            self._worker_is_cold = False
            self.kept.current.live.warm(lambda: self._stopping)

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
            self.pause.wait(_TICK_S)
        if self._builder is not None:
            self._builder.hold(False)

    def _refuse(self) -> None:
        builds = [asked for asked in self._builds if not asked.started]
        self._builds = [asked for asked in self._builds if asked.started]
        checks, self._checks = self._checks, []
        for build in builds:
            build.fail(PAUSED)
        for check in checks:
            check.fail(PAUSED)

    def _look_again(self) -> None:
        """Losses that were not believed are looked at a second time."""
        if self.kept.degraded and time.monotonic() >= self.kept.look_again_at:
            self.kept.look_again_at = time.monotonic() + _LOOK_AGAIN_S
            self.watcher.request_scan("to look again at what is missing")

    def _patience(self) -> float:
        if self._builder is not None or self.backlog.busy:
            return _BUILDING_TICK_S
        due = self.kept.hold.next_due()
        return _TICK_S if due is None else min(_TICK_S, max(0.0, due - time.monotonic()))

    def _sync(self, batch: Batch) -> None:
        if batch.control:
            self.tidying.end()  # what it writes could be what the rules now exclude
            self._reload_rules()
        self.scans_begun += batch.scan_all
        before = self.kept.current
        _, found = self.kept.sync(batch.scope, self._set_left, self._sync_few)
        self.left = 0
        if self.kept.current is not None and self.kept.current is not before:  # its manifest says more now
            self.reasons, self._retry_at = self.kept.current.reasons, 0.0
        self.trouble = ""
        if batch.scan_all:
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
        self._rest()

    def _set_left_of_build(self, left: int) -> None:
        self._catching_up = True
        self._set_left(left)

    def _start_build(self) -> None:
        """A build that is asked for, or that the manifest asks for; one that is under way serves both."""
        if self._builder is not None:
            return
        needed = bool(self.reasons) and time.monotonic() >= self._retry_at
        if self._builds or (needed and not self.kept.in_doubt()):
            log.info("building: %s", "; ".join(self.reasons) or "as asked")
            refit = self.kept.current is None or any(asked.refit for asked in self._builds)
            soon = self.kept.current is None and not self._builds  # nothing else answers meanwhile
            self._builder = BuilderProcess(self._assembly, refit=refit, soon=soon)
            for asked in self._builds:
                asked.started = True

    def _follow_build(self) -> None:
        if self._builder is None:
            return
        try:
            done = self._builder.poll(self._set_progress)
            if done is None:
                return
            self.kept.assembly = self._assembly
            self.kept.adopt(done[0], self._set_left_of_build, self._sync_few)
            self._warm()
        except (VaultIndexerError, OSError) as error:
            self._end_build(error=str(error))
        else:
            self._end_build(done[1])
            self._expect_fit()

    def _expect_fit(self) -> None:
        """A generation just built fits, unless the program was replaced under the running daemon: then
        building again and again would not help."""
        self.reasons = self.kept.current.reasons if self.kept.current else ()
        if self.reasons:
            self._retry_at = time.monotonic() + _RETRY_UNFIT_S
            self.trouble = f"restart the daemon: what it builds does not fit it ({'; '.join(self.reasons)})"
            log.error("%s", self.trouble)

    def _set_progress(self, progress: Progress) -> None:
        self.progress = progress
        for asked in self._builds:
            if asked.started:
                asked.report(progress)

    def _end_build(self, report: RebuildReport | None = None, error: str = "") -> None:
        self._builder, self.progress = None, None
        self._catching_up, self.left = False, 0
        ended = [asked for asked in self._builds if asked.started]
        self._builds = [asked for asked in self._builds if not asked.started]
        if report is None:
            self._retry_at = time.monotonic() + _RETRY_BUILD_S
            self.trouble = f"the rebuild failed: {error}"
            log.error("%s", self.trouble)
        for asked in ended:
            asked.give(report) if report else asked.fail(error)
        mended, self._mending = self._mending, []
        for check, found in mended:
            check.give(found) if report else check.fail(error)

    def _run_checks(self) -> None:
        waiting, self._checks = self._checks, []
        for asked in waiting:
            try:
                found = self.kept.verify(mend=asked.mend)
            except (VaultIndexerError, OSError) as error:
                asked.fail(str(error))
                continue
            if self.kept.damaged:
                self.reasons, self._retry_at = (self.kept.damaged,), 0.0
            if self.kept.damaged and asked.mend:
                self._mending.append((asked, found))  # answered when the rebuild is done
            else:
                asked.give(found)

    def _reload_rules(self) -> None:
        rules = load_ignore_rules(self._assembly.vault, self._assembly.settings.files)
        if rules.fingerprint != self.kept.rules.fingerprint:
            self.kept.rules = rules
            self.watcher.use_rules(rules)

    def _config_times(self) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in self._assembly.config_files() if path.exists()}

    def _reload_if_changed(self) -> None:
        """A changed configuration counts at once; a wrong one is named, and the old one stays in force."""
        seen = self._config_times()
        if seen == self._config_seen:
            return
        self._config_seen = seen
        try:
            self._assembly = self._assembly.reloaded()
        except ConfigError as error:
            self.trouble = f"the changed configuration is not used: {error}"
            log.error("%s", self.trouble)
            return
        self.trouble = ""
        self.kept.assembly = self._assembly
        self._reload_rules()
        if self.kept.current is not None:
            self.kept.current = self._assembly.reconfigured(self.kept.current)
            self.reasons, self._retry_at = self.kept.current.reasons, 0.0
