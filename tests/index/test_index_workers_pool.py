"""Worker processes: they start, die and are replaced; no job waits for ever, no note takes what it likes; of
pools that share slots no more are at work, and no more alive, than there are slots."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import which

import pytest
from fragile_workers import (
    Fragile,
    KilledBeforeUnpickled,
    LeavesChildBeforeUnpickled,
    StartsSecond,
    start_and_raise,
    start_fragile,
)
from fragile_workers import start_never as never
from waiting import wait_until

from vault_indexer.errors import ProcessError, UnavailableError
from vault_indexer.index.workers.budget import Mark, NoteBudget, NoteMeter, usage_by_ps, usage_of
from vault_indexer.index.workers.pool import Died, Slots, WorkerPool
from vault_indexer.system import ProcessLimits, Usage
from vault_indexer.system.processes import own_usage

MB = 1 << 20
Pool = WorkerPool[str, tuple[str, int]]


def pool_of(
    start: Callable[[], Fragile] = start_fragile, size: int = 1, budget: NoteBudget | None = None
) -> closing[Pool]:
    return closing(WorkerPool(size, start, budget=budget))


def results(pool: Pool, *jobs: str, fresh: bool = False) -> list[str | Died]:
    done = pool.run(jobs, fresh=fresh)
    return [result if isinstance(result, Died) else result[0] for _, result in done]


@pytest.mark.posix("signals")
@pytest.mark.long
def test_a_worker_killed_before_it_has_begun_is_replaced_and_its_job_done(tmp_path: Path) -> None:
    with pool_of(StartsSecond(tmp_path / "flag")) as pool:
        assert results(pool, "one", "two") == ["one", "two"]


@pytest.mark.posix("signals")
@pytest.mark.long
@pytest.mark.parametrize(
    ("start", "said"),
    [
        (never, "status 3: the library is broken"),
        (KilledBeforeUnpickled(), "status 4: Illegal instruction"),
        (start_and_raise, "ValueError: no such model"),
    ],
    ids=["ends", "crashes", "raises"],
)
def test_a_worker_that_never_begins_ends_the_work_with_what_it_said(
    start: Callable[[], Fragile], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pool_of(start) as pool, pytest.raises(ProcessError) as raised:
        results(pool, "one")
    if "status 3" in said:  # by then it writes to the standard error of its parent
        said = said.partition(":")[0]
        assert "the library is broken" in capfd.readouterr().err
    assert said in str(raised.value)


@pytest.mark.posix("signals")
@pytest.mark.long
def test_a_worker_that_ends_without_a_word_does_not_wait_for_whoever_holds_its_standard_error() -> None:
    with pool_of(LeavesChildBeforeUnpickled()) as pool, pytest.raises(ProcessError) as raised:
        results(pool, "one")
    said = "5 worker processes in a row ended before they began: the process ended with status 5"
    assert str(raised.value) == said


@pytest.mark.long
def test_a_worker_that_never_begins_is_one_that_died_where_it_works_beside() -> None:
    with pool_of(start_and_raise) as pool:
        pool.begin("one")
        done: list[tuple[str, tuple[str, int] | Died]] = []

        def is_done() -> bool:
            done.extend(filter(None, [pool.result()]))
            return bool(done)

        wait_until(is_done)
        ((_, died),) = done
        assert isinstance(died, Died) and "no such model" in died.reason


@pytest.mark.posix("signals")
@pytest.mark.long
def test_a_job_that_ends_its_worker_is_told_and_the_others_are_done() -> None:
    with pool_of() as pool:
        first, died, last = results(pool, "one", "die", "two")
        assert (first, last) == ("one", "two")
        assert died == Died("the process ended by signal 9", fresh=False)
        (alone,) = results(pool, "die", fresh=True)
        assert isinstance(alone, Died) and alone.fresh


@pytest.mark.long
def test_an_error_that_is_not_foreseen_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pool_of() as pool:
        (died,) = results(pool, "raise")
        _, second = results(pool, "one", "raise")
    assert isinstance(died, Died) and isinstance(second, Died)
    assert died.reason == "a process of the indexer ended: RecursionError: too deep"
    assert (died.fresh, second.fresh) == (True, False)
    assert capfd.readouterr().err == ""


@pytest.mark.posix("signals")
@pytest.mark.long
def test_an_idle_worker_that_was_killed_is_replaced() -> None:
    with pool_of() as pool:
        ((_, result),) = pool.run(["one"])
        assert not isinstance(result, Died)
        os.kill(result[1], signal.SIGKILL)
        done = results(pool, "two")  # the kill may be noticed only while the job runs
        assert done == ["two"] or isinstance(done[0], Died)
        assert results(pool, "three") == ["three"]
        ((_, result),) = pool.run(["four"])
        assert not isinstance(result, Died)
        os.kill(result[1], signal.SIGKILL)
        list(pool.each("five"))
        assert results(pool, "six") == ["six"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("final", "told"),
    [("farewell", ["farewell"]), ("reads a note", ["reads a note"]), ("die", []), ("raise", []), (None, [])],
)
def test_a_worker_that_outgrows_its_share_is_asked_for_a_last_job(final: str | None, told: list[str]) -> None:
    pool: Pool = WorkerPool(1, start_fragile, ProcessLimits(memory_bytes=1), final)
    with closing(pool):
        assert results(pool, "one", "before") == ["one", "before"]
        assert not pool.has_workers
        given = [result for _, result in pool.each("to those that live")]
        assert [result[0] for result in given if not isinstance(result, Died)] == told
        assert list(pool.each("again")) == []


def test_a_pool_that_was_stopped_or_has_no_job_starts_no_worker() -> None:
    with pool_of(start_never_called) as pool:
        assert pool.result() is None
        assert results(pool) == []
        pool.stop()
        with pytest.raises(UnavailableError, match="the work was stopped"):
            results(pool, "one")
        assert not pool.has_workers


def start_never_called() -> Fragile:
    raise AssertionError("a worker was started")


@pytest.mark.long
def test_a_single_job_goes_to_the_worker_that_was_started_first() -> None:
    with pool_of(size=2) as pool:
        first = pid_of(pool, "one")
        both = {result[1] for _, result in pool.run(["two", "three"]) if not isinstance(result, Died)}
        assert len(both) == 2 and first in both
        for _ in range(3):
            assert pid_of(pool, "one") == first


@pytest.mark.long
def test_a_pool_that_becomes_another_has_its_workers_from_the_next_job_on() -> None:
    """One that rests ends at once, one at work after its job."""
    with pool_of() as pool:
        resting = pid_of(pool, "one")
        pool.become(WorkerPool(2, start_fragile))
        assert not pool.has_workers
        both = {result[1] for _, result in pool.run(["two", "three"]) if not isinstance(result, Died)}
        assert len(both - {resting}) == 2, "there are two now"
        pool.close()
        pool.begin("four")
        pool.become(WorkerPool(1, start_fragile))
        wait_until(lambda: (found := pool.result()) is not None and found[0] == "four")
        assert not pool.has_workers
        assert isinstance(pid_of(pool, "five"), int)


def pid_of(pool: Pool, job: str) -> int:
    """The process of the worker that did the job."""
    ((_, result),) = pool.run([job])
    assert not isinstance(result, Died)
    return result[1]


@pytest.mark.long
def test_with_fresh_each_job_has_a_worker_of_its_own() -> None:
    with pool_of() as pool:
        done = [*pool.run(["one", "two"]), *pool.run(["three", "four"], fresh=True)]
    pids = [result[1] for _, result in done if not isinstance(result, Died)]
    assert len(pids) == 4
    assert len(set(pids)) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("budget", "before", "job", "excess"),
    [
        (NoteBudget(seconds=0.5), "one", "spin", "took over 0.5 s of processor time"),
        (NoteBudget(memory_bytes=100 * MB), "before", "hoard", "took over 100 MB of memory"),
    ],
)
def test_a_note_that_takes_too_much_is_ended_although_it_holds_the_interpreter(
    budget: NoteBudget, before: str, job: str, excess: str
) -> None:
    """What was in memory before does not count."""
    with pool_of(budget=budget) as pool:
        first, died, last = results(pool, before, job, "two")
    assert (first, last) == (before, "two")
    assert isinstance(died, Died)
    assert (died.excess, died.slow_note) == (excess, "spin" if job == "spin" else "")


def test_what_the_model_takes_is_not_charged_to_the_note() -> None:
    used = [Usage(10, 1000)]
    marks: list[Mark] = []
    meter = NoteMeter(lambda: used[0])
    meter.report = marks.append
    with meter.reading("a.md"):
        used[0] = Usage(12, 1100)
        with meter.outside():
            used[0] = Usage(50, 9100)
    with meter.outside():  # no note is being read
        pass
    reading = [Mark(Usage(10, 1000), "a.md"), Mark(None), Mark(Usage(48, 9000), "a.md"), Mark(None)]
    assert marks == reading


def test_two_ways_to_ask_the_system_agree() -> None:
    told = usage_of(os.getpid())
    if told is None:
        pytest.skip("the system does not tell")
    own = own_usage()
    assert abs(own.seconds - told.seconds) < 1
    assert 0.5 < own.resident / told.resident < 2
    by_ps = usage_by_ps(os.getpid()) if which("ps") else None
    if by_ps is not None:
        assert abs(own.seconds - by_ps.seconds) < 2
        assert 0.5 < own.resident / by_ps.resident < 2


def test_of_a_process_that_is_not_there_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usage_of((1 << 22) + 1) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert usage_by_ps(os.getpid()) is None, "there is no ps"


@pytest.mark.posix("the program ps")
@pytest.mark.parametrize(
    ("time", "seconds"), [("00:01", 1), ("02:03", 123), ("1:02:03", 3723), ("2-01:00:00", 176_400)]
)
def test_the_time_that_ps_tells_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, time: str, seconds: float
) -> None:
    ps = tmp_path / "ps"
    ps.write_text(f"#!/bin/sh\necho '{time} 7'\n")
    ps.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert usage_by_ps(1) == Usage(seconds, 7 * 1024)


HOLDER = (Path(__file__).parent / "fixtures" / "holder.py.txt").read_text("utf-8")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state != b"Z"


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
def test_workers_end_without_a_word_when_their_parent_is_killed() -> None:
    """Idle, within native code, and while they start."""
    command = [sys.executable, "-c", HOLDER, str(Path(__file__).parent)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert holder.stdout is not None and holder.stderr is not None
    pids = [int(pid) for _ in range(2) for pid in holder.stdout.readline().split()]
    assert len(pids) == 3
    holder.kill()
    holder.wait(60)
    wait_until(lambda: not any(map(is_running, pids)), "the workers end without their parent", 60)
    assert holder.stderr.read() == b""
    holder.stdout.close()
    holder.stderr.close()


def test_a_pool_waits_while_all_places_are_taken() -> None:
    slots = Slots(1)
    began, done = threading.Event(), threading.Event()

    def work() -> None:
        with slots.at_work(2, lambda: None, lambda: False) as has_slot:
            assert has_slot
            began.set()
        done.set()

    with slots.at_work(1, lambda: None, lambda: False):
        other = threading.Thread(target=work)
        other.start()
        assert not began.wait(0.3)
        with slots.at_work(3, lambda: None, lambda: True) as has_slot:
            assert not has_slot
    wait_until(done.is_set)
    other.join()


def test_a_pool_at_work_keeps_its_workers() -> None:
    slots, ended = Slots(2), []
    with slots.at_work(1, lambda: ended.append(1), lambda: False):
        for number in (2, 3):
            with slots.at_work(number, lambda number=number: ended.append(number), lambda: False):  # type: ignore[misc]
                pass
    assert ended == [2]


def test_a_slot_is_had_by_one_at_a_time_and_there_can_be_more_or_fewer() -> None:
    slots = Slots()
    assert [slots.try_acquire(owner) for owner in (1, 1, 2)] == [True, True, False]
    slots.release(2)
    assert not slots.try_acquire(2)
    slots.resize(2)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False)
    slots.resize(1)
    slots.release(1)
    assert (slots.try_acquire(2), slots.try_acquire(3)) == (True, False), "who has one keeps it"
    slots.release(2)
    assert slots.try_acquire(3)


@pytest.mark.parametrize(
    ("slots", "pools", "ended"), [(2, [1, 2, 1, 3], [2]), (4, [1, 2, 3, 4], []), (4, [1, 2, 3, 4, 5], [1])]
)
def test_of_too_many_pools_the_one_that_rests_longest_ends_its_workers(
    slots: int, pools: list[int], ended: list[int]
) -> None:
    shared, found = Slots(slots), list[int]()
    for number in pools:
        with shared.at_work(number, partial(found.append, number), lambda: False) as has_slot:
            assert has_slot
    assert found == ended


def test_a_pool_that_is_forgotten_does_not_count_among_those_alive() -> None:
    slots, ended = Slots(2), list[str]()
    for name in ("a", "b"):
        with slots.at_work(name, partial(ended.append, name), lambda: False):
            pass
    slots.forget("a")
    slots.forget("none")
    for name, expected in (("c", []), ("d", ["b"])):
        with slots.at_work(name, partial(ended.append, name), lambda: False):
            assert ended == expected


def test_a_slot_is_given_back_by_a_block_that_fails() -> None:
    slots = Slots()
    with pytest.raises(ZeroDivisionError), slots.at_work(1, lambda: None, lambda: False):
        assert not slots.try_acquire(2)
        raise ZeroDivisionError
    assert slots.try_acquire(2)
