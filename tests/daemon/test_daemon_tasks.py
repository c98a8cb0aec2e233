"""Work between edits: when it rests or is tried again, who comes first, how large its portions are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import pytest
from loop_by_hand import Clock

from vault_indexer.daemon import retry as retry_module
from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.pause import Pause
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.tasks.merge import MergeTask
from vault_indexer.daemon.tasks.portions import PortionTask
from vault_indexer.daemon.tasks.rechunk import RechunkTask
from vault_indexer.daemon.tasks.upkeep import NextWork, Upkeep, UpkeepTask, Work
from vault_indexer.errors import DiskFullError
from vault_indexer.index.compaction import MergeJob
from vault_indexer.index.jobs import Embedded, EmbedJob, PrepareJob
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.index.workers.slots import Slots
from vault_indexer.system import ProcessLimits


def test_each_failure_in_a_row_waits_twice_as_long() -> None:
    clock = Clock()
    retry = Retry(2.0, 12.0, clock)
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    waited = []
    for _ in range(5):
        retry.record_failure()
        waited.append(retry.remaining_s)
        clock.now += waited[-1] - 0.5
        assert not retry.is_due
        clock.now += 0.5
        assert retry.is_due
    assert waited == [2.0, 4.0, 8.0, 12.0, 12.0]
    retry.wait_again()
    assert retry.remaining_s == 12.0
    retry.reset()
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    retry.wait_again()
    assert retry.remaining_s == 2.0
    retry.wait(30.0)
    clock.now += 100.0
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)


def test_a_success_forgets_the_failures_before_it() -> None:
    clock = Clock(0.0)
    retry = Retry(1.0, 60.0, clock)
    assert retry.is_due
    for _ in range(3):
        retry.record_failure()
    retry.reset()
    assert retry.is_due
    retry.record_failure()
    assert retry.remaining_s == 1.0


def test_after_a_full_disk_room_ends_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, free = Clock(), [(1 << 20) + 7]
    monkeypatch.setattr(retry_module, "free_bytes", lambda folder: free[0] if folder == tmp_path else 0)
    retry = Retry(60.0, 60.0, clock, tmp_path)
    retry.record_failure(DiskFullError("no room"))
    was_due = []
    for more in ((1 << 20) - 1, 1, 1):
        free[0] += more
        was_due.append(retry.is_due)
    assert was_due == [False, True, True]
    retry.record_failure(OSError("something else"))
    free[0] += 1 << 30
    assert not retry.is_due
    nowhere = Retry(60.0, 60.0, clock)
    nowhere.record_failure(DiskFullError("no room"))
    assert not nowhere.is_due


def test_a_pause_ends_at_a_word_or_by_itself() -> None:
    clock = Clock()
    pause = Pause(clock)

    def state() -> tuple[bool, datetime | None]:
        return pause.active, pause.until

    assert state() == (False, None)
    pause.wait(60.0)  # returns at once
    pause.begin(None)
    assert state() == (True, None)
    pause.begin(90.4)
    began = datetime.now(UTC)
    active, until = state()
    assert active and until is not None and until.microsecond == 0
    assert timedelta(seconds=88) < until - began < timedelta(seconds=92)
    clock.now += 90.3
    assert state()[0]
    clock.now += 0.2
    assert state() == (False, None)
    pause.begin(None)
    pause.end()
    assert state() == (False, None)


def test_whoever_waits_in_a_pause_hears_that_it_is_over() -> None:
    pause, ended = Pause(), Event()

    def wait() -> None:
        while pause.active:
            pause.wait(300.0)
        ended.set()

    for begin, end in ((None, pause.end), (300.0, partial(pause.begin, 0.0)), (0.01, lambda: None)):
        pause.begin(begin)
        ended.clear()
        thread = Thread(target=wait)
        thread.start()
        end()
        assert ended.wait(60.0)
        thread.join()


class Pool:
    """Stands for a worker pool with one process: a test says what comes of its job."""

    def __init__(self) -> None:
        self.begun: object = None
        self.outcome: object = None
        self.closed = 0
        self.fails = False

    def begin(self, job: object) -> None:
        if self.fails:
            raise OSError("no process can be started")
        self.begun = job

    def result(self) -> tuple[object, object] | None:
        return None if self.outcome is None else (self.begun, self.outcome)

    def close(self) -> None:
        self.closed += 1


class Task(UpkeepTask[str, str]):
    """Has one job for its pool at a time, and records what becomes of it."""

    def __init__(self, job: str, slot: Slots | None = None, *, kept: bool = False) -> None:
        self.job = job
        self.slot = slot
        self.pool = Pool()
        self.said: list[str] = []
        self.problem = ""
        self._kept = kept

    @property
    def fault(self) -> str:
        return self.problem

    def observe(self, *, is_idle: bool) -> None:
        self.said.append("idle" if is_idle else "edits")

    def next_work(self, current: OpenGeneration) -> NextWork:  # noqa: ARG002
        pool = cast("WorkerPool[str, str]", self.pool)
        return Work(pool, self.job, lambda: self._kept) if self.job else None

    def accept(self, current: OpenGeneration, job: str, result: str) -> None:  # noqa: ARG002
        self.said.append(f"{job}: {result}")
        if result == "unwritable":
            raise OSError(result)

    def fail(self, current: OpenGeneration, job: str, reason: str) -> None:  # noqa: ARG002
        self.said.append(f"{job} failed: {reason}")


class Generation:
    """Stands for an open generation: which one it is tells its writer."""

    def __init__(self) -> None:
        self.writer = object()


class Synced:
    """Stands for the index: none, or the active generation."""

    def __init__(self) -> None:
        self.current: Generation | None = Generation()


def upkeep_of(synced: Synced, *tasks: Task) -> Upkeep:
    return Upkeep(cast(VaultSync, synced), tasks)


def test_the_first_task_that_has_work_has_it_done_and_no_other_meanwhile() -> None:
    nothing, first, second = Task(""), Task("first"), Task("second")
    upkeep = upkeep_of(Synced(), nothing, first, second)
    upkeep.step(is_idle=False)
    assert (upkeep.doing, first.pool.begun) == (None, None)
    upkeep.step(is_idle=True)
    assert (upkeep.doing, first.pool.begun, second.pool.begun) == (first, "first", None)
    upkeep.step(is_idle=True)
    first.job, first.pool.outcome = "", "done"
    upkeep.step(is_idle=False)
    assert (upkeep.doing, second.pool.begun, first.pool.closed) == (None, None, 1)
    upkeep.step(is_idle=True)
    assert (upkeep.doing, second.pool.begun) == (second, "second")
    assert first.said == ["edits", "idle", "idle", "edits", "first: done", "idle"]
    assert second.said == ["edits", "idle", "idle", "edits", "idle"]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Failed("the model is down"), "one failed: the model is down"),
        (Died("it ended"), "one failed: it ended"),
    ],
)
def test_work_without_a_result_has_failed(outcome: object, said: str) -> None:
    task = Task("one", kept=True)
    upkeep = upkeep_of(Synced(), task)
    upkeep.step(is_idle=True)
    task.pool.outcome = outcome
    upkeep.step(is_idle=False)
    assert task.said[-1] == said
    assert task.pool.closed == 0, "its process is kept"


def test_a_result_that_cannot_be_written_is_told_and_leaves_nothing_under_way() -> None:
    slot = Slots()
    task, other = Task("one", slot), Task("two", slot)
    upkeep, beside = upkeep_of(Synced(), task), upkeep_of(Synced(), other)
    upkeep.step(is_idle=True)
    beside.step(is_idle=True)
    assert (upkeep.doing, beside.doing) == (task, None), "there is one slot"
    task.pool.outcome = "unwritable"
    with pytest.raises(OSError, match="unwritable"):
        upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.closed) == (None, 1)
    beside.step(is_idle=True)
    assert beside.doing is other
    task.pool.outcome, task.pool.fails = None, True
    beside.end()
    with pytest.raises(OSError, match="no process"):
        upkeep.step(is_idle=True)
    beside.step(is_idle=True)
    assert (upkeep.doing, beside.doing, task.pool.closed) == (None, other, 2)


def test_what_was_begun_for_another_generation_is_abandoned() -> None:
    synced, task = Synced(), Task("one")
    upkeep = upkeep_of(synced, task)
    upkeep.step(is_idle=True)
    synced.current = None
    upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.closed) == (None, 1)
    synced.current = Generation()
    upkeep.step(is_idle=True)
    task.pool.outcome = "late"
    synced.current = Generation()
    upkeep.step(is_idle=False)
    assert (upkeep.doing, task.pool.closed) == (None, 2)
    assert "one: late" not in task.said
    task.problem = "it does not work"
    assert upkeep_of(synced, Task(""), task).faults == ("it does not work",)


class Portions(PortionTask):
    """Portions of at most 100 texts, of which each should take a second."""

    what = "embedding failed"

    def __init__(self, retry: Retry) -> None:
        super().__init__(16, 100, 1.0, retry, None)
        self.reason = ""
        self.error: Exception | None = None
        self.left_out: list[EmbedJob] = []

    def next_work(self, current: OpenGeneration) -> NextWork:  # noqa: ARG002
        return None

    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:  # noqa: ARG002
        if self.error is not None:
            raise self.error
        return self.reason

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:  # noqa: ARG002
        self.left_out.append(job)


CURRENT = cast(OpenGeneration, None)


def job_of(texts: int) -> EmbedJob:
    return EmbedJob(cast(Any, None), tuple(range(texts)))


def embedded(seconds: float) -> Embedded:
    return Embedded({}, seconds)


def test_a_portion_is_as_large_as_the_model_is_quick() -> None:
    task = Portions(Retry(5.0, 5.0, Clock()))
    sizes = []
    for seconds in (0.8, 0.1, 0.0, 0.5, 3.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0):
        task.accept(CURRENT, job_of(1), embedded(seconds))
        sizes.append(task.size)
    assert sizes == [20, 40, 80, 100, 50, 50, 25, 12, 6, 3, 2, 1, 1, 1]


def test_a_portion_that_fails_is_halved_down_to_the_text_that_is_left_out() -> None:
    clock = Clock()
    task = Portions(Retry(5.0, 5.0, clock))
    for texts, size in ((7, 3), (3, 1), (1, 1)):
        task.fail(CURRENT, job_of(texts), "the model is down")
        assert (task.size, task.retry.is_due) == (size, False)
    assert task.fault == "embedding failed, will retry: the model is down"
    assert task.left_out == [job_of(1)]
    task.accept(CURRENT, job_of(4), embedded(1.0))
    assert (task.fault, task.retry.is_due, task.size) == ("", True, 1)
    task.reason = "other texts by now"
    task.accept(CURRENT, job_of(4), embedded(1.0))
    assert (task.fault, task.size) == ("embedding failed, will retry: other texts by now", 2)
    task.retry.reset()
    task.error = DiskFullError("no room")
    with pytest.raises(DiskFullError):
        task.accept(CURRENT, job_of(4), embedded(1.0))
    assert not task.retry.is_due


class Derived:
    needs_merge = True
    published = 0

    def publish(self) -> None:
        self.published += 1


class Merging:
    """Stands for a generation whose keyword index needs a merge."""

    generation = None

    def __init__(self) -> None:
        self.derived = Derived()
        self.writer = self


@pytest.fixture
def merging() -> tuple[Clock, MergeTask, Callable[[], bool]]:
    """A merge that is needed, and whether it would be begun now."""
    clock, current = Clock(), cast(OpenGeneration, Merging())
    task = MergeTask(ProcessLimits(), clock)
    return clock, task, lambda: task.next_work(current) is not None


def test_an_edit_puts_a_merge_off_for_three_seconds(
    merging: tuple[Clock, MergeTask, Callable[[], bool]],
) -> None:
    clock, task, begins = merging
    assert begins()
    task.observe(is_idle=False)
    clock.now += 2.9
    task.observe(is_idle=True)
    assert not begins()
    clock.now += 0.1
    assert begins()


def test_edits_that_never_pause_put_a_merge_off_for_a_minute(
    merging: tuple[Clock, MergeTask, Callable[[], bool]],
) -> None:
    clock, task, begins = merging
    for _ in range(59):
        task.observe(is_idle=False)
        clock.now += 1.0
        assert not begins()
    task.observe(is_idle=False)
    clock.now += 1.0
    assert begins()
    task.observe(is_idle=False)
    assert not begins(), "a minute begins again"


def test_a_merge_that_fails_is_tried_again_after_a_minute(
    merging: tuple[Clock, MergeTask, Callable[[], bool]],
) -> None:
    clock, task, begins = merging
    current = Merging()
    open_generation = cast(OpenGeneration, current)
    task.fail(open_generation, cast(MergeJob, None), "no room")
    clock.now += 59.9
    assert not begins()
    clock.now += 0.1
    assert begins()
    task.accept(open_generation, cast(MergeJob, None), None)
    assert current.derived.published == 1
    current.derived.needs_merge = False
    assert task.next_work(open_generation) is None


class Snapshot:
    def __init__(self, seq: int) -> None:
        self.seq = seq

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Waiting:
    """Stands for an index with notes that were split without their language model."""

    def __init__(self, **notes: str) -> None:
        self.notes = notes
        self.seq = 1
        self.reread_notes: list[str] = []
        self.current = self.writer = self.holder = self
        self.spare = Pool()
        self.missing_vectors = 0

    def lease(self) -> Snapshot:
        return Snapshot(self.seq)

    def notes_without_model(self) -> dict[str, str]:
        return dict(self.notes)

    def reread(self, path: str) -> None:
        self.reread_notes.append(path)
        del self.notes[path]
        self.seq += 1


def test_notes_are_split_again_in_turn_once_the_model_has_answered() -> None:
    clock, index = Clock(), Waiting(a="1", b="2", c="3")
    task = RechunkTask(cast(VaultSync, index), clock, 60.0)
    current = cast(OpenGeneration, index)

    def asked() -> str:
        work = task.next_work(current)
        return work.job.paths[0] if work else ""

    def fail() -> str:
        path = asked()
        task.fail(current, PrepareJob((path,), at_once=0), "it is down")
        return path

    assert task.fault == ""
    assert [fail(), fail(), fail()] == ["a", "b", "c"], "each is asked for once, at once"
    assert task.fault == "3 notes split without the language model, which has not answered yet"
    assert asked() == ""
    for seconds in (59.9, 0.1):
        assert asked() == ""
        clock.now += seconds
    assert fail() == "a"
    index.notes["b"], index.seq = "changed", 2
    assert fail() == "b", "one that has changed is asked for at once"
    clock.now += 59.0
    assert asked() == ""
    clock.now += 120.0
    assert asked() == "c"
    task.accept(current, PrepareJob(("c",), at_once=0), [])
    assert index.reread_notes == ["c"]
    assert asked() == "a", "the model answers: no wait"
    index.notes, index.seq = {}, 9
    assert asked() == ""
    assert task.fault == ""
