"""What each task between edits does next, and when: vectors, notes read again, merges, a new base."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from golden_cases import check_golden, of_parts
from loop_by_hand import Clock
from reliability_lab import in_one_process
from vault_at_work import Place, copy_of
from waiting import wait_until

from vault_indexer.config import Settings
from vault_indexer.daemon.assembly import OpenGeneration, SharedBudget
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.state import missing_vectors_notice
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.compaction import CompactionTask, MergeTask
from vault_indexer.daemon.tasks.embedding import EmbeddingTask, PortionTask
from vault_indexer.daemon.tasks.reread import QuarantineRetry, RechunkTask
from vault_indexer.daemon.tasks.upkeep import NextWork, Upkeep, UpkeepTask, WordsTask, Work
from vault_indexer.errors import DiskFullError, IndexUnusableError, VaultError
from vault_indexer.index.derived import CompactionJob
from vault_indexer.index.jobs import Embedded, EmbedJob, PrepareJob
from vault_indexer.index.note_workers import WorkerSpec
from vault_indexer.index.workers.pool import Failed, Slots
from vault_indexer.providers.wordllama import wordllama_model
from vault_indexer.store import SnapshotHolder
from vault_indexer.store.keywords.lexicon import Lexicon
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.system import ProcessLimits
from vault_indexer.vault.dirty import Quarantine


@pytest.mark.parametrize(
    ("missing", "chunks", "of"), [(0, 5, ""), (1, 1234, "1 of 1,234"), (2000, 1234, "2,000 of 2,000")]
)
def test_a_search_says_how_many_chunks_have_no_vector_yet(missing: int, chunks: int, of: str) -> None:
    snapshot = SimpleNamespace(missing_vectors=missing, keywords=range(chunks))
    holder = SimpleNamespace(lease=lambda: nullcontext(snapshot))
    notice = (f"semantic search is incomplete: {of} chunks have no embedding yet",) if of else ()
    assert missing_vectors_notice(cast(SnapshotHolder, holder)) == notice


def opened_as(stub: object) -> OpenGeneration:
    return cast(OpenGeneration, stub)


def work_of(task: UpkeepTask[Any, Any], current: object) -> Work[Any, Any]:
    work = task.next_work(opened_as(current))
    assert work is not None
    return work


class Owing:
    """Stands for a generation and its writer: the texts that have no vector yet."""

    spare: Any = "the spare process"

    def __init__(self, *keys: int) -> None:
        self.keys = list(keys)
        self.writer = self

    @property
    def missing_vectors(self) -> int:
        return len(self.keys)

    def next_embed_job(self, size: int) -> EmbedJob:
        return cast(EmbedJob, SimpleNamespace(keys=tuple(self.keys[:size])))

    def put_vectors(self, vectors: Mapping[int, bytes]) -> None:
        self.keys = [key for key in self.keys if key not in vectors]

    def is_waiting_for(self, job: EmbedJob) -> bool:
        return not set(self.keys).isdisjoint(job.keys)

    def postpone(self, job: EmbedJob) -> None:
        self.keys = [key for key in self.keys if key not in job.keys] + list(job.keys)


def embedded(*keys: int) -> Embedded:
    return cast(Embedded, SimpleNamespace(vectors=dict.fromkeys(keys, b""), seconds=0.5))


def test_missing_vectors_are_made_in_the_spare_process_which_is_kept_while_some_are_missing() -> None:
    task, owing = EmbeddingTask(Clock()), Owing(*range(20))
    current = opened_as(owing)
    first = work_of(task, owing)
    assert (first.job.keys, first.pool, first.is_kept()) == (tuple(range(16)), owing.spare, True)
    task.accept(current, first.job, embedded(*first.job.keys))
    second = work_of(task, owing)
    assert second.job.keys == (16, 17, 18, 19)
    task.accept(current, second.job, embedded(*second.job.keys))
    assert (task.next_work(current), second.is_kept(), task.fault) == (None, False, "")


def test_vectors_of_texts_that_the_index_no_longer_holds_do_not_count() -> None:
    clock, owing = Clock(), Owing(1, 2, 3)
    task, current = EmbeddingTask(clock), opened_as(owing)
    task.accept(current, work_of(task, owing).job, embedded(1))
    assert task.fault == "embedding failed, will retry: the texts in the index have changed"
    assert task.next_work(current) is None
    clock.now += 1.0
    assert work_of(task, owing).job.keys == (2,), "half of three"


def test_a_text_that_the_model_cannot_take_comes_last() -> None:
    owing = Owing(1, 2)
    task, current = EmbeddingTask(Clock()), opened_as(owing)
    task.fail(current, owing.next_embed_job(1), "too long")
    assert owing.keys == [2, 1]
    owing.keys = []
    assert task.next_work(current) is None
    assert task.fault == "", "nothing is missing, so that nothing fails"


class SetAside:
    """Stands for an index with notes that were set aside."""

    spare: Any = "the spare process"
    missing_vectors = 0

    def __init__(self, clock: Clock) -> None:
        self.dirty = self
        self.writer = self
        self.aside = Quarantine(clock)
        self.aside.use({"a.md": (1, "x")})
        self.reread_notes: list[str] = []

    def reread(self, path: str) -> None:
        self.reread_notes.append(path)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_note_that_was_set_aside_is_tried_when_it_is_due(is_read: bool) -> None:
    clock = Clock()
    index = SetAside(clock)
    task, current = QuarantineRetry(cast(VaultSync, index)), opened_as(index)
    clock.now += 1.0
    assert task.next_work(current) is None
    clock.now += 1.0
    work = work_of(task, index)
    assert (work.job, work.pool) == (PrepareJob(("a.md",), at_once=0), index.spare)
    assert index.aside.untried == 1
    if is_read:
        task.accept(current, work.job, [])
    else:
        task.fail(current, work.job, "it ended again")
    assert index.reread_notes == (["a.md"] if is_read else [])
    assert index.aside.untried == 0
    clock.now += 3.0
    assert task.next_work(current) is None, "each wait is twice as long"
    clock.now += 1.0
    assert task.next_work(current) is not None


class Changed:
    """Stands for a generation many of whose vectors have changed, and whose words need a merge."""

    generation = None
    job = cast(CompactionJob, "the job")
    base = cast(VectorSnapshot, "the base")

    def __init__(self, load: Callable[[], VectorSnapshot] | None = None) -> None:
        self.writer = self.derived = self
        self.worth_compacting = self.needs_merge = True
        self.load_next_base = load or (lambda: self.base)
        self.used: list[VectorSnapshot | str] = []

    def begin_compaction(self) -> CompactionJob:
        return self.job

    def adopt_base(self, base: VectorSnapshot) -> None:
        self.used.append(base)

    def publish(self) -> None:
        self.used.append("the segments")


def compacted(changed: Changed, outcome: object) -> tuple[object, int]:
    """The result of a compaction whose process ended with this outcome, and how often it was closed."""
    work = work_of(CompactionTask(ProcessLimits(), Clock()), changed)
    closed: list[bool] = []
    work.pool = process = cast(Any, SimpleNamespace(result=lambda: None, close=lambda: closed.append(True)))
    assert work.result() is None
    process.result = lambda: (changed.job, outcome)
    found: list[object] = []

    def is_there() -> bool:
        found.extend(filter(None, [work.result()]))
        return bool(found)

    wait_until(is_there)
    return found[0], len(closed)


NO_ROOM, DAMAGED = Failed("no room"), Failed("it is damaged")


@pytest.mark.parametrize(
    ("outcome", "error", "result", "closed"),
    [
        (None, None, Changed.base, 1),
        (NO_ROOM, AssertionError("there is nothing to load"), NO_ROOM, 0),
        (None, IndexUnusableError("it is damaged"), DAMAGED, 1),
        (None, OSError("it is damaged"), DAMAGED, 1),
        (None, MemoryError("it is damaged"), DAMAGED, 1),
    ],
)
def test_a_base_that_was_written_is_loaded_once_its_process_has_ended(
    outcome: object, error: Exception | None, result: object, closed: int
) -> None:
    def load() -> VectorSnapshot:
        if error is not None:
            raise error
        return Changed.base

    assert compacted(Changed(load), outcome) == ((Changed.job, result), closed)


@pytest.mark.parametrize(
    ("kind", "need", "used"),
    [(CompactionTask, "worth_compacting", Changed.base), (MergeTask, "needs_merge", "the segments")],
)
def test_a_compaction_or_merge_is_begun_where_it_is_worth_it_and_a_minute_after_a_failure(
    clock: Clock, kind: type[CompactionTask | MergeTask], need: str, used: object
) -> None:
    changed, task = Changed(), cast(UpkeepTask[Any, Any], kind(ProcessLimits(), clock))
    current = opened_as(changed)
    setattr(changed, need, False)
    assert task.next_work(current) is None
    setattr(changed, need, True)
    for _ in range(2):
        task.fail(current, changed.job, "no room")
        clock.now += 59.9
        assert task.next_work(current) is None
        clock.now += 0.1
        assert task.next_work(current) is not None
    task.accept(current, changed.job, changed.base)
    assert changed.used == [used]


def test_vaults_of_one_process_have_a_worker_each_and_build_in_turn(tmp_path: Path) -> None:
    settings = Settings.model_validate({"index": {"workers": 3}})
    spec = WorkerSpec(tmp_path, settings, wordllama_model(), None, (), tmp_path / "cache", tmp_path / "calls")
    shared = SharedBudget(settings.index)
    budgets = (shared, pickle.loads(pickle.dumps(shared)), SharedBudget(None))
    sizes = [one.make_pool(spec, 4)._size for one in budgets]
    assert sizes == [1, 4, 4], "a build in a process of its own has all workers"
    assert shared.build.try_acquire("one vault")
    assert not shared.build.try_acquire("another")
    assert shared.vectors.try_acquire("another")


@pytest.mark.parametrize(("edits", "wait"), [(1, 3.0), (20, 3.0), (59, 2.0), (60, 1.0)])
def test_an_edit_puts_a_merge_off_for_three_seconds_and_edits_that_never_pause_for_a_minute(
    clock: Clock, edits: int, wait: float
) -> None:
    merging, task = opened_as(Changed()), MergeTask(ProcessLimits(), clock)

    def begins() -> bool:
        return task.next_work(merging) is not None

    assert begins()
    for number in range(edits):
        clock.now += bool(number)
        task.observe(is_idle=False)
        assert not begins()
    clock.now += wait - 0.1
    task.observe(is_idle=True)
    assert not begins()
    clock.now += 0.1
    assert begins()
    task.observe(is_idle=False)
    assert not begins(), "a minute begins again"


class Waiting:
    """Stands for an index with notes that were split without their language model."""

    def __init__(self, **notes: str) -> None:
        self.notes = notes
        self.seq = 1
        self.reread_notes: list[str] = []
        self.current = self.writer = self.holder = self
        self.spare = None
        self.missing_vectors = 0

    def lease(self) -> nullcontext[SimpleNamespace]:
        return nullcontext(SimpleNamespace(seq=self.seq))

    def notes_without_model(self) -> dict[str, str]:
        return dict(self.notes)

    def reread(self, path: str) -> None:
        self.reread_notes.append(path)
        del self.notes[path]
        self.seq += 1


def test_notes_are_split_again_in_turn_once_the_model_has_answered() -> None:
    clock, index = Clock(), Waiting(a="1", b="2", c="3")
    task = RechunkTask(cast(VaultSync, index), clock)
    current = opened_as(index)

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
    assert fail() == "c"
    for _ in range(12):
        clock.now += 3600.0
        assert fail(), "no pause is longer than an hour"
    task.accept(current, PrepareJob(("c",), at_once=0), [])
    assert index.reread_notes == ["c"]
    assert asked() == "a", "the model answers: no wait"
    index.notes, index.seq = {}, 9
    assert asked() == ""
    assert task.fault == ""


@dataclass
class ScriptedPool:
    """A process that has the outcome which the test gives it."""

    outcome: object = None
    begun: list[object] = field(default_factory=list)
    closed: int = 0
    fails: bool = False

    def begin(self, job: object) -> None:
        if self.fails:
            raise OSError("no process")
        self.begun.append(job)

    def result(self) -> tuple[object, object] | None:
        return None if self.outcome is None else (self.begun[-1], self.outcome)

    def close(self) -> None:
        self.closed += 1


class ScriptedTask(UpkeepTask[Any, Any]):
    def __init__(self, pool: ScriptedPool, *, kept: bool = False, slot: Slots | None = None) -> None:
        self.pool = pool
        self.slot = slot
        self.said = ""
        self.jobs: list[object] = ["job"]
        self.kept = kept
        self.heard: list[object] = []

    @property
    def fault(self) -> str:
        return self.said

    def observe(self, *, is_idle: bool) -> None:
        self.heard.append(is_idle)

    def next_work(self, current: OpenGeneration) -> NextWork:
        del current
        return Work(cast("Any", self.pool), self.jobs.pop(0), lambda: self.kept) if self.jobs else None

    def accept(self, current: OpenGeneration, job: object, result: object) -> None:
        del current
        if result == "unwritable":
            raise OSError("no room")
        self.heard.append((job, result))

    def fail(self, current: OpenGeneration, job: object, reason: str) -> None:
        del current
        self.heard.append((job, f"failed: {reason}"))


def generation() -> object:
    return SimpleNamespace(writer=object())


@pytest.fixture
def source() -> SimpleNamespace:
    return SimpleNamespace(current=generation())


def upkeep_of(source: SimpleNamespace, *tasks: ScriptedTask) -> Upkeep:
    return Upkeep(cast("VaultSync", source), tasks)


def test_work_begins_when_the_loop_is_idle_and_ends_whenever_it_is_done(source: SimpleNamespace) -> None:
    first, second = ScriptedTask(ScriptedPool()), ScriptedTask(ScriptedPool())
    upkeep = upkeep_of(source, first, second)
    upkeep.step(is_idle=False)
    assert (upkeep.doing, first.pool.begun) == (None, [])
    upkeep.step(is_idle=True)
    assert (upkeep.doing, first.pool.begun, second.pool.begun) == (first, ["job"], [])
    upkeep.step(is_idle=True)
    assert first.heard == [False, True, True]
    first.pool.outcome = "made"
    upkeep.step(is_idle=False)
    assert first.heard == [False, True, True, False, ("job", "made")]
    assert (upkeep.doing, first.pool.closed) == (None, 1)
    upkeep.step(is_idle=True)
    assert (upkeep.doing, second.pool.begun) == (second, ["job"])
    second.pool.outcome = Failed("it is down")
    upkeep.step(is_idle=False)
    assert second.heard[-1] == ("job", "failed: it is down")
    assert second.pool.closed == 1


def test_a_process_that_is_kept_goes_on(source: SimpleNamespace) -> None:
    task = ScriptedTask(ScriptedPool(outcome="made"), kept=True)
    upkeep = upkeep_of(source, task)
    upkeep.step(is_idle=True)
    upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.closed) == (None, 0)


def test_what_cannot_be_written_is_raised_and_its_process_ends(source: SimpleNamespace) -> None:
    task = ScriptedTask(ScriptedPool(outcome="unwritable"))
    upkeep = upkeep_of(source, task)
    upkeep.step(is_idle=True)
    with pytest.raises(OSError, match="no room"):
        upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.closed) == (None, 1)


def test_the_outcome_for_a_generation_of_before_does_not_count(source: SimpleNamespace) -> None:
    task = ScriptedTask(ScriptedPool(outcome="made"))
    task.jobs.append("again")
    upkeep = upkeep_of(source, task)
    upkeep.step(is_idle=True)
    source.current = generation()
    upkeep.step(is_idle=False)
    assert (upkeep.doing, task.pool.closed, task.heard) == (None, 1, [True, False])
    upkeep.step(is_idle=True)
    source.current = None
    upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.begun, task.pool.closed) == (None, ["job", "again"], 2)
    upkeep.step(is_idle=True)
    assert task.pool.closed == 2


def test_a_process_that_cannot_be_started_leaves_the_slot_to_others(source: SimpleNamespace) -> None:
    slot = Slots()
    task = ScriptedTask(ScriptedPool(fails=True), slot=slot)
    upkeep = upkeep_of(source, task)
    with pytest.raises(OSError, match="no process"):
        upkeep.step(is_idle=True)
    assert (upkeep.doing, task.pool.closed, slot.try_acquire("other")) == (None, 1, True)


def test_a_task_whose_slot_another_vault_has_is_passed_over(source: SimpleNamespace) -> None:
    slot = Slots()
    assert slot.try_acquire("other")
    first, second = ScriptedTask(ScriptedPool(), slot=slot), ScriptedTask(ScriptedPool(outcome="made"))
    upkeep = upkeep_of(source, first, second)
    upkeep.step(is_idle=True)
    assert upkeep.doing is second
    slot.release("other")
    first.jobs = ["later"]
    upkeep.step(is_idle=True)
    assert (upkeep.doing, first.pool.begun) == (first, ["later"])
    assert not slot.try_acquire("other")
    upkeep.end()
    assert slot.try_acquire("other")
    upkeep.end()
    assert first.pool.closed == 1


def test_the_faults_are_those_of_the_tasks_that_have_one(source: SimpleNamespace) -> None:
    tasks = [ScriptedTask(ScriptedPool()) for _ in range(3)]
    for task, said in zip(tasks, ("one", "", "two"), strict=True):
        task.said = said
    assert upkeep_of(source, *tasks).faults == ("one", "two")


class Portions(PortionTask):
    what = "making failed"

    def __init__(self, clock: Clock) -> None:
        super().__init__(16, 40, 0.5, Retry(1.0, 300.0, clock), None)
        self.reason = ""
        self.left_out: list[EmbedJob] = []

    def next_work(self, current: OpenGeneration) -> NextWork:
        del current
        return None

    def store(self, current: OpenGeneration, job: EmbedJob, vectors: Mapping[bytes, bytes]) -> str:
        del current, job, vectors
        if self.reason == "unwritable":
            raise OSError("no room")
        return self.reason

    def leave_out(self, current: OpenGeneration, job: EmbedJob) -> None:
        del current
        self.left_out.append(job)


HERE = cast("OpenGeneration", None)


def job_of(texts: int) -> EmbedJob:
    return cast("EmbedJob", SimpleNamespace(keys=list(range(texts))))


def made_in(seconds: float) -> Embedded:
    return cast("Embedded", SimpleNamespace(vectors={}, seconds=seconds))


@pytest.fixture
def portions() -> Portions:
    return Portions(Clock())


def test_a_portion_follows_the_model_by_half_or_double_at_most(portions: Portions) -> None:
    def following(size: str, seconds: str) -> int:
        portions.size, portions.fault = int(size), "before"
        portions.retry.record_failure()
        portions.accept(HERE, job_of(portions.size), made_in(float(seconds)))
        assert (portions.fault, portions.retry.is_due) == ("", True)
        return portions.size

    check_golden(Path(__file__).parent / "fixtures" / "portions.md", {"": of_parts(following)})


def test_a_portion_that_fails_is_halved_until_one_text_is_left_out(portions: Portions) -> None:
    sizes = []
    for texts in (5, 2, 1):
        job = job_of(texts)
        portions.fail(HERE, job, "it is down")
        sizes.append(portions.size)
        assert portions.left_out == ([job] if texts == 1 else [])
    assert sizes == [2, 1, 1]
    assert portions.fault == "making failed, will retry: it is down"
    assert portions.retry.remaining_s == 4.0


def test_vectors_that_do_not_serve_or_cannot_be_written_are_made_again(portions: Portions) -> None:
    portions.reason = "other texts by now"
    portions.accept(HERE, job_of(8), made_in(0.5))
    assert (portions.size, portions.fault) == (4, "making failed, will retry: other texts by now")
    portions.reason = "unwritable"
    with pytest.raises(OSError, match="no room"):
        portions.accept(HERE, job_of(8), made_in(0.5))
    assert (portions.size, portions.retry.remaining_s) == (4, 2.0)


def test_the_words_of_a_new_segment_are_read_when_the_loop_is_idle(built: Place, tmp_path: Path) -> None:
    where = copy_of(built, tmp_path)
    with closing(VaultSync(in_one_process(where.target()), live=False)) as vault_sync:
        task = WordsTask(vault_sync)
        task.step(is_idle=True)
        assert (task.busy, task.faults) == (False, ()), "there is no index yet"
        assert vault_sync.open_current() == ()

        def lexicon() -> Lexicon:
            assert vault_sync.current is not None
            with vault_sync.current.writer.holder.lease() as snapshot:
                return snapshot.keywords.lexicon

        lexicon().load()
        where.write("Compost.md", "# Compost\n\nTurn the heap.\n")
        vault_sync.sync(EVERYTHING)
        task.step(is_idle=False)
        assert (task.busy, lexicon().is_partly_read) == (False, True)
        task.step(is_idle=True)
        wait_until(lambda: not task.busy)
        assert not lexicon().is_partly_read
        assert [word.term for word in lexicon().near("compots")] == ["compost"]


def test_each_failure_in_a_row_waits_twice_as_long_up_to_a_bound(clock: Clock) -> None:
    retry = Retry(3.0, 10.0, clock)
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    waits = []
    for _ in range(4):
        retry.record_failure()
        waits.append(retry.remaining_s)
    assert waits == [3.0, 6.0, 10.0, 10.0]
    clock.now += 9.5
    assert (retry.is_due, retry.remaining_s) == (False, 0.5)
    clock.now += 0.5
    assert (retry.is_due, retry.remaining_s) == (True, 0.0)
    clock.now += 5.0
    assert retry.remaining_s == 0.0
    retry.wait_again()
    assert retry.remaining_s == 10.0
    retry.reset()
    assert retry.is_due
    retry.wait_again()
    assert retry.remaining_s == 3.0
    retry.record_failure()
    assert retry.remaining_s == 6.0
    retry.wait(1.0)
    assert retry.remaining_s == 1.0


def test_after_a_full_disk_the_wait_ends_when_there_is_a_mebibyte_more_room(
    clock: Clock, tmp_path: Path
) -> None:
    room = [100]
    retry = Retry(3.0, 10.0, clock, tmp_path, lambda _: room[0])
    retry.record_failure(DiskFullError("x"))
    looks = []
    for more in (0, (1 << 20) - 1, 1 << 20):
        room[0] = 100 + more
        looks.append(retry.is_due)
    assert looks == [False, False, True]
    retry.record_failure(VaultError("x"))
    room[0] = 1 << 40
    assert not retry.is_due, "what failed then was no full disk"
