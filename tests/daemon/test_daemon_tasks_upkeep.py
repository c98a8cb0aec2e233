"""Work between edits, with tasks and processes that the test scripts."""

from collections.abc import Mapping
from contextlib import closing
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

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.daemon.tasks.embedding import PortionTask
from vault_indexer.daemon.tasks.upkeep import NextWork, Upkeep, UpkeepTask, WordsTask, Work
from vault_indexer.index.jobs import Embedded, EmbedJob
from vault_indexer.index.workers.pool import Failed, Slots
from vault_indexer.store.keywords.lexicon import Lexicon


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
