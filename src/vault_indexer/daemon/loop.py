"""The daemon's loop: one thread that receives changes, indexes them, and rebuilds the index if needed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from vault_indexer.config import keys_to_restart_for
from vault_indexer.daemon.assembly import Assembly, OpenGeneration, SharedBudget
from vault_indexer.daemon.config_watch import ConfigWatch
from vault_indexer.daemon.lock import IndexFolderGuard, IndexLock
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.state import CONFIG_NOT_USED, PAUSED, Cause, LoopState, Pause, StateHolder
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.compaction import CompactionTask, MergeTask
from vault_indexer.daemon.tasks.embedding import EmbeddingTask
from vault_indexer.daemon.tasks.rebuild import (
    STOPPED,
    BuildRequest,
    CheckRequest,
    LoopRequest,
    RebuildResult,
    RebuildTask,
    RequestQueue,
)
from vault_indexer.daemon.tasks.reread import QuarantineRetry, RechunkTask, RecognitionTask
from vault_indexer.daemon.tasks.upgrade import UpgradeRules, UpgradeTask
from vault_indexer.daemon.tasks.upkeep import BackgroundTask, RemoteFollower, Upkeep, WordsTask
from vault_indexer.errors import DamagedError, UnavailableError, VaultIndexerError
from vault_indexer.extensions import offered
from vault_indexer.index.plan import Applied, Leave
from vault_indexer.index.workers.budget import upkeep_limits
from vault_indexer.model import FileKind, Progress, kind_of
from vault_indexer.search import warm_in_background
from vault_indexer.store import index_errors
from vault_indexer.system import record
from vault_indexer.vault.dirty import Batch
from vault_indexer.vault.ignore import IGNORE_FILE, OBSIDIAN_APP_FILE
from vault_indexer.vault.walk import Scan
from vault_indexer.vault.watch import VaultWatcher

log = logging.getLogger("vault_indexer.daemon")

_TICK_S = 0.25
_BUILDING_TICK_S = 0.05
_STEP_S = 3.0
"""After this long in one step, documents that are still to be read wait for the next one. Reading them can
take an hour, and meanwhile exclusions, deletions and requests must take effect."""

_TASKS_RETRY_S = 3.0
_TASKS_RETRY_LATEST_S = 60.0


@record
class Pace:
    """The timing of the loop. `clock` returns seconds. The loop waits at most `tick_s` for a change before it
    checks everything else, and ends the workers after `idle_s` without a change."""

    clock: Callable[[], float] = time.monotonic
    tick_s: float = _TICK_S
    idle_s: float = 300.0


class IndexLoop:
    """The only thread of the daemon that writes the index. It waits for changes, indexes them, and rebuilds.

    DaemonSession owns it and calls `run` in a separate thread. Other threads may call only the methods
    marked "Any thread". An edit that fails is logged and retried (see DirtySet); no error of a step ends the
    loop. Edits come before background tasks, and a pause stops both between two notes. If `pending` is 0 and
    no notice reports a problem, the index equals the vault.
    """

    def __init__(
        self,
        vault_sync: VaultSync,
        watcher: VaultWatcher,
        lock: IndexLock,
        reasons: tuple[str, ...],
        pace: Pace | None = None,
        budget: SharedBudget | None = None,
    ) -> None:
        assembly = vault_sync.assembly
        self._vault_sync = vault_sync
        self._watcher = watcher
        self._pace = pace or Pace()
        self._clock = clock = self._pace.clock
        self._root = assembly.index_dir.root
        self._dirty = vault_sync.dirty
        self._pause = Pause()
        self._state = StateHolder(clock, reasons)
        budget = budget or SharedBudget(None)
        self._rebuild = RebuildTask(vault_sync, self._state, budget.build)
        self._embedding = EmbeddingTask(clock, budget.vectors)
        self._remote = tuple[RemoteFollower, ...](follow(vault_sync, clock) for follow in offered("follower"))
        self._rechunk = RechunkTask(vault_sync, clock)
        limits = upkeep_limits(assembly.settings.index)
        self._upgrade = UpgradeTask(
            UpgradeRules.of(assembly.settings.embedding),
            # All vectors of this build with the better model are computed already.
            lambda: self._rebuild.request(BuildRequest()),
            clock,
            budget.vectors,
        )
        # Vectors may be missing for hours, so a note that must be read again comes first.
        again = QuarantineRetry(vault_sync), self._rechunk
        vectors = self._embedding, self._upgrade
        self._reading = Upkeep(vault_sync, (*again, *vectors, RecognitionTask(vault_sync)))
        # A merge and a compaction each take a core and much memory, so they run one at a time.
        self._limited = (MergeTask(limits, clock), CompactionTask(limits, clock))
        self._rewriting = Upkeep(vault_sync, self._limited)
        works: tuple[BackgroundTask, ...] = (self._reading, self._rewriting, WordsTask(vault_sync))
        self._tasks = (*works, *self._remote)
        self._requests = RequestQueue()
        self._index_guard = IndexFolderGuard(assembly.index_dir, lock)
        self._config = ConfigWatch(assembly.files)
        # Keys that need a restart are compared with these, however often the configuration changes.
        self._started_with = assembly.settings
        self._lists = ConfigWatch(assembly.vault / name for name in (IGNORE_FILE, OBSIDIAN_APP_FILE))
        self._again: set[str] = set()
        self._began = clock()
        self._tasks_retry = Retry(_TASKS_RETRY_S, _TASKS_RETRY_LATEST_S, clock, self._root)
        self._is_cold = False
        self._edited_at: float | None = clock()
        self._stopping = False
        self._note_exclusions()

    def request(self, request: LoopRequest) -> None:
        """Submits a request. It is refused once the loop has ended. Any thread."""
        self._requests.put(request)

    @property
    def paused(self) -> bool:
        """Whether the user has paused indexing. Any thread."""
        return self._pause.active

    def pause(self, seconds: float | None) -> None:
        """Pauses indexing for `seconds`, or (None) until `resume`. Any thread."""
        self._pause.begin(seconds)
        self._dirty.wake()  # `wait_for_scan` would wait for a scan that does not come

    def resume(self) -> None:
        """Continues indexing. Any thread."""
        self._pause.end()

    def wait_for_scan(self, deadline_s: float) -> bool:
        """Requests a scan of the vault and waits until its changes are indexed. Returns False after
        `deadline_s` s, if the index is degraded, or if indexing is paused or over. Any other thread."""

        def is_given_up() -> bool:
            return self.paused or self._stopping

        if is_given_up():
            return False
        # A scan of its own: a running one may have passed a file before it changed.
        number = self._watcher.request_scan("a fresh answer was requested")
        return self._dirty.wait_for_scan(number, deadline_s, is_given_up) and not self._vault_sync.degraded

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` was called or the daemon must end. Any thread."""
        return self._stopping

    def stop(self) -> None:
        """Makes `run` return soon. A current edit is abandoned and a build is ended. Any thread."""
        # First: every thread that is woken below checks it.
        self._stopping = True
        self._pause.end()
        self._watcher.stop()
        self._vault_sync.stop()
        self._dirty.wake()

    def run(self) -> None:
        self._warm_later()
        while not self._stopping:
            self.step()
        # First: from now on each request is refused at once, and none waits for a loop that has ended.
        self._requests.close()
        self._rebuild.end()
        for task in self._tasks:
            task.end()

    def step(self) -> None:
        """Runs one step. Never raises."""
        try:
            with index_errors(self._root):
                self._step()
        except Exception as error:  # noqa: BLE001 - logged; no error of a step may end the loop
            if not self._stopping:
                self._report(error)
                self._dirty.fail_taken()
        self._publish()

    def _publish(self, pending: int | None = None, **values: Any) -> None:
        catching_up = self._rebuild.catching_up and self._dirty.left
        self._state.publish(
            self.pending() if pending is None else pending,
            building=self._index_deleted or (self._rebuild.busy and not catching_up),
            vault_problem=self._vault_sync.degraded,
            task_faults=tuple(fault for task in self._tasks for fault in task.faults),
            **values,
        )

    @property
    def _index_deleted(self) -> bool:
        return Cause.INDEX_GONE in self._state.next.faults

    def pending(self) -> int:
        """Returns the number of changes that are reported, being read, failed, held, or not yet published to
        the server. Any thread."""
        return len(self._dirty) + self._unpublished()

    def _unpublished(self) -> int:
        return sum(follower.behind() for follower in self._remote)

    @property
    def state(self) -> LoopState:
        """The state that the loop last published, with the current counts. Any thread."""
        current, dirty, mode = self._vault_sync.current, self._dirty, self._watcher.mode
        return self._state.read(
            watching=f"{mode.name}: {mode.reason}" if mode.reason else mode.name,
            upgrade=self._upgrade.progress if current is not None and current.upgrade is not None else None,
            has_index=current is not None,
            unread=self._vault_sync.unread,
            documents=self._vault_sync.documents_notice,
            pending=self.pending(),
            held=dirty.held,
            unpublished=self._unpublished(),
            publishing_fault=next((fault for follower in self._remote for fault in follower.faults), ""),
            is_indexing=bool(dirty.left or dirty.failed or dirty.aside.untried),
            paused=self._pause.active,
            paused_until=self._pause.until,
            advice="" if current is None else current.advice,
        )

    def _report(self, error: Exception) -> None:
        """Logs the error, and shows it as a fault until all failed changes are indexed."""
        foreseen = isinstance(error, VaultIndexerError | OSError)
        text = self._state.begin_fault_with(Cause.INDEXING, "indexing failed", error)
        log.error("%s", text, exc_info=None if foreseen else error)
        if isinstance(error, DamagedError):
            self._state.change(reasons=(str(error),))

    def _step(self) -> None:
        """Waits for a batch of changes, then does all work that is due."""
        self._publish(step_began=None)
        # Before the wait: the watcher looks while it waits whether these folders can be read again.
        self._watcher.report_unreadable(self._vault_sync.unreadable)
        batch = self._watcher.next_batch(self._patience())
        self._publish(step_began=self._clock())
        self._rest()
        self._began = self._clock()
        # First: everything after it may write to the folder.
        self._restore_if_gone()
        self._reload_if_changed()
        self._look_at_exclusions()
        self._take_requests()
        self._step_rebuild()
        if batch is not None and not self._stopping:
            self._index(batch)
        # After the batch, which a user may be waiting for.
        self._retry_failed()
        if self._again and not (self._stopping or self._index_deleted):
            again, self._again = frozenset(self._again), set()
            self._sync_in_parts(again)
        self._warm_up()
        self._confirm_losses()
        if not (self._stopping or self._index_deleted):
            before = self._vault_sync.current
            self._vault_sync.release_due()
            self._use_reasons_unless(before)
            self._end_idle_workers(batch)
            if self._step_tasks(batch) and not self._dirty.failed:
                self._state.end_faults(Cause.INDEXING)

    def _step_tasks(self, batch: Batch | None) -> bool:
        """Runs the background tasks. After a failure, they wait for their next attempt, but edits do not.
        Returns whether they ran: False before that attempt. Raises the error of a task."""
        if not self._tasks_retry.is_due:
            return False
        # A build computes the same vectors, so background tasks wait for it.
        idle = batch is None and not self._rebuild.busy
        try:
            for task in self._tasks:
                # A merge or a compaction would slow down embedding.
                waits = task is self._rewriting and self._is_embedding
                task.step(is_idle=idle and not waits)
            self._vault_sync.purge_if_needed()
        except Exception as error:
            self._tasks_retry.record_failure(error)
            raise
        self._tasks_retry.reset()
        return True

    @property
    def _is_embedding(self) -> bool:
        return self._reading.doing is self._embedding

    def _end_idle_workers(self, batch: Batch | None) -> None:
        """Ends the workers after a long time without an edit, to free their memory. The next edit starts new
        ones."""
        if batch is not None:
            self._edited_at = self._clock()
        elif self._edited_at is not None and self._clock() - self._edited_at >= self._pace.idle_s:
            # Once is enough until the next edit.
            self._edited_at = None
            if self._vault_sync.current is not None:
                self._vault_sync.current.writer.rest()

    def _retry_failed(self) -> None:
        scope = None if self._stopping or self._index_deleted else self._dirty.take_failed()
        if scope is not None:
            self._sync_in_parts(scope)
            self._publish()

    def _restore_if_gone(self) -> None:
        """Rebuilds a deleted index, while the old one answers searches from its open files. If the folder
        cannot be restored, sets `failure` and ends the daemon."""
        current = self._vault_sync.current
        loss = self._index_guard.loss(current.generation if current and not self._index_deleted else None)
        if not loss or self._stopping:
            return
        log.error("%s: it will be rebuilt", loss)
        # Both write to files in the deleted folder.
        self._rewriting.end()
        self._rebuild.kill()
        try:
            self._index_guard.restore(loss)
        except VaultIndexerError as error:
            self._state.change(failure=error)
            self._stopping = True
            return
        self._rebuild.use_reasons((loss,))
        self._state.begin_fault(Cause.INDEX_GONE, f"{loss}: it will be rebuilt")

    def _warm_later(self) -> None:
        self._is_cold = self._vault_sync.current is not None

    def _warm_up(self) -> None:
        """Loads the data that the first search and the first edit need. This runs at the end of a step,
        because loading takes longer than the check that nothing has changed."""
        if self._is_cold and self._vault_sync.current is not None and not self._stopping:
            self._is_cold = False
            warm_in_background(self._vault_sync.current.reader)
            self._vault_sync.current.writer.warm_up()

    def _rest(self) -> None:
        """Waits until indexing is not paused, and pauses a build for the same time. The watcher continues to
        collect changes. Requests are refused: a build is work that the user does not want now, and a check
        would compare the vault with an index that does not follow it."""
        if not self._pause.active:
            return
        self._rewriting.end()
        # The build takes the cores that the user wants to have.
        self._rebuild.hold(True)
        while self._pause.active and not self._stopping:
            self._publish()
            self._rebuild.refuse(UnavailableError(PAUSED))
            self._requests.refuse(UnavailableError(PAUSED))
            self._pause.wait(_TICK_S)
        self._publish(0, step_began=self._clock())
        self._rebuild.hold(False)

    def _confirm_losses(self) -> None:
        """Requests another scan for unconfirmed losses, and for documents that waited for mains power."""
        if self._vault_sync.take_confirmation():
            self._watcher.request_scan("to confirm what is missing")
        if self._vault_sync.take_power():
            self._watcher.request_scan("documents have waited for mains power")

    def _patience(self) -> float:
        if self._again and not (self._index_deleted or self._dirty.rules_changed):
            return 0.0
        if self._rebuild.busy or self._is_embedding:
            return min(_BUILDING_TICK_S, self._pace.tick_s)
        due = self._dirty.next_held()
        return self._pace.tick_s if due is None else min(self._pace.tick_s, max(0.0, due - self._clock()))

    def _index(self, batch: Batch) -> None:
        if self._index_deleted:
            self._dirty.fail_taken()  # the build reads the whole vault
            return
        if batch.control:
            self._rewriting.end()  # its output could contain notes that the rules now exclude
            self._use_assembly(self._vault_sync.assembly)
        if batch.first:
            self._sync(batch.first)
        found = self._sync_in_parts(batch.scope)
        if batch.scan_all and found is not None:
            # Polling must not use more than a share of the time.
            self._watcher.record_scan_time(found.seconds)
        self._publish()

    def _sync_in_parts(self, scope: frozenset[str]) -> Scan | None:
        return self._sync(scope, self._between_notes, self._between_parts)

    def _sync(
        self,
        scope: frozenset[str],
        on_progress: Callable[[int], None] = lambda _left: None,
        between_parts: Callable[[], Leave] | None = None,
    ) -> Scan | None:
        """Updates the index for these paths. A failure is retried later. Returns the scan, or None if it
        failed."""
        before = self._vault_sync.current
        try:
            with index_errors(self._root):
                applied, found = self._vault_sync.sync(scope, on_progress, between_parts)
        except Exception as error:  # noqa: BLE001 - logged, and tried again
            if not self._stopping:
                self._report(error)
            return None
        if applied != Applied():
            # An edit may have added notes that wait for the language model.
            self._rechunk.refresh()
        # Another scan counts the notes that are left of one; documents alone are cheaper to look at.
        notes_left = any(kind_of(path) is FileKind.NOTE for path in applied.left)
        self._again |= EVERYTHING if notes_left and "" in scope else set(applied.left)
        self._use_reasons_unless(before)
        return found

    def _use_reasons_unless(self, before: OpenGeneration | None) -> None:
        """Uses the reasons for a rebuild, unless the index is still `before`: its manifest contains more now,
        or its files have changed the configuration for its build."""
        current = self._vault_sync.current
        if current is not None and current is not before:
            self._rebuild.use_reasons(current.reasons)

    def _between_parts(self) -> Leave:
        """Indexes a few saved notes. Returns the work left for the next step, as other work is due first."""
        self._sync_few()
        if self._dirty.rules_changed:
            return "all"  # a note that is still to be read may be excluded now
        return "documents" if self._clock() - self._began >= _STEP_S else ""

    def _sync_few(self) -> None:
        """Indexes a few saved notes between the parts of a large batch, which may take minutes."""
        few = self._watcher.pop_batch()
        if few and not self._stopping:
            self._sync(few)
            # Documents may have been read before they changed, and are only then written.
            self._again |= {path for path in few if kind_of(path) is not FileKind.NOTE}

    def _between_notes(self, _left: int) -> None:
        """Called after each note is read, before any of its part is written. It lets a pause take effect
        within a long batch."""
        if self._stopping:
            raise UnavailableError(STOPPED)
        self._publish(step_began=self._clock())
        self._rest()

    def _step_rebuild(self) -> None:
        result = self._rebuild.step(self._between_notes, self._sync_few)
        if result is None:
            return
        if result.report is not None:
            self._use_new_generation(result)
        self._publish()  # the caller that requested the build then reads the state
        self._rebuild.answer(result)

    def _use_new_generation(self, result: RebuildResult) -> None:
        """Resets the state of the loop for the new generation, which already contains the latest changes."""
        self._warm_later()
        self._tasks_retry.reset()
        self._state.end_faults(Cause.INDEXING)
        if self._index_deleted:
            self._note_event(": ".join(("Index rebuilt", *result.reasons[:1])))
            self._state.end_faults(Cause.INDEX_GONE)

    def _note_event(self, *notices: str) -> None:
        self._state.change(happened=(*self._state.next.happened, *notices))

    def _take_requests(self) -> None:
        while request := self._requests.take():
            if isinstance(request, BuildRequest):
                self._rebuild.request(request)
                continue
            try:
                with index_errors(self._root):
                    self._check(request)
            except Exception as error:  # noqa: BLE001 - the waiting caller gets it
                request.answer.set_exception(error)

    def _check(self, request: CheckRequest) -> None:
        def report(progress: Progress) -> None:
            if self._stopping:
                raise UnavailableError(STOPPED)
            self._publish(check_progress=progress)
            request.report(progress)

        try:
            problems = self._vault_sync.verify(repair=request.repair, report=report)
        finally:
            self._publish(check_progress=None)
        if self._vault_sync.damaged:
            self._rebuild.use_reasons((self._vault_sync.damaged,))
        self._publish()
        if self._vault_sync.damaged and request.repair:
            self._rebuild.answer_after_repair(request, problems)
        else:
            request.answer.set_result(problems)

    def _use_assembly(self, assembly: Assembly) -> None:
        """Uses this configuration and the current exclusions of the vault. Raises ExclusionError for invalid
        patterns in the configuration, and then changes nothing."""
        if self._vault_sync.reconfigure(assembly):
            self._watcher.use_rules(self._vault_sync.rules)
        self._upgrade.rules = UpgradeRules.of(assembly.settings.embedding)
        for task in self._limited:
            task.use_limits(upkeep_limits(assembly.settings.index))
        self._note_exclusions()

    def pause_upgrade(self, paused: bool) -> None:
        """Pauses or resumes the embedding with a better model. Any thread."""
        self._upgrade.paused = paused

    def _note_restart(self) -> None:
        """Reports the changed keys that take effect only after a restart."""
        keys = keys_to_restart_for(self._started_with, self._vault_sync.assembly.settings)
        if not keys:
            self._state.end_faults(Cause.RESTART)
            return
        text = f"restart the daemon (indexer stop, indexer start): it does not follow {', '.join(keys)}"
        if self._state.begin_fault(Cause.RESTART, text):
            log.warning("%s", text)

    def _note_exclusions(self) -> None:
        """Reports exclusions that cannot be parsed. Once all of them can, ends the fault and immediately
        retries a build that failed because of them."""
        state, fault = self._state, self._vault_sync.rules.fault
        if fault:
            if state.begin_fault(Cause.EXCLUSIONS, fault):
                log.error("%s", fault)
        elif Cause.EXCLUSIONS in state.next.faults:
            state.end_faults(Cause.EXCLUSIONS)
            self._rebuild.use_reasons(state.next.reasons)

    def _look_at_exclusions(self) -> None:
        """Watches the ignore files while one cannot be parsed: a change of permissions causes no event."""
        if self._vault_sync.rules.problems and self._lists.has_changed():
            self._watcher.request_scan("the exclusions changed")

    def _reload_if_changed(self) -> None:
        """Uses a changed configuration at once. If it is invalid, the old one stays active and a fault is
        shown until it is corrected."""
        if not self._config.has_changed():
            return
        for path in self._config.disappeared:
            log.warning("the configuration %s is gone", path)
        try:
            self._use_assembly(self._vault_sync.assembly.with_reloaded_config())
        except VaultIndexerError as error:
            log.error("%s", self._state.begin_fault_with(Cause.CONFIG, CONFIG_NOT_USED, error))
            return
        self._state.end_faults(Cause.CONFIG)
        self._note_restart()
        self._note_event(*(f"the configuration {path} is gone" for path in self._config.disappeared))
        current = self._vault_sync.current
        if current is not None and not self._index_deleted:
            self._rebuild.use_reasons(current.reasons)
