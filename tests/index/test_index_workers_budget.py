"""What reading a note may take, to the second and the byte, and how many share a machine."""

from multiprocessing.connection import Connection

import pytest

from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.errors import DiskFullError, NoteError
from vault_indexer.index.workers.budget import (
    STALLED_S,
    JobWatch,
    Mark,
    NoteBudget,
    NoteMeter,
    PoolPlan,
    is_slow_model,
    limits_of,
    note_budget,
)
from vault_indexer.index.workers.pool import Failed, JobWorker, run_job
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import ProcessLimits, Usage

MB = 1 << 20


@pytest.mark.parametrize(
    ("budget", "seconds", "memory", "excess"),
    [
        (NoteBudget(), 1e9, 1 << 60, ""),
        (NoteBudget(seconds=2.5), 2.5, 0, ""),
        (NoteBudget(seconds=2.5), 2.6, 0, "took over 2.5 s of processor time"),
        (NoteBudget(memory_bytes=3 * MB), 0.0, 3 * MB, ""),
        (NoteBudget(memory_bytes=3 * MB), 0.0, 3 * MB + 1, "took over 3 MB of memory"),
        (NoteBudget(1.0, MB), 2.0, 2 * MB, "took over 1 s of processor time"),
    ],
)
def test_a_budget_is_exceeded_by_more_than_it_allows(
    budget: NoteBudget, seconds: float, memory: int, excess: str
) -> None:
    assert budget.excess(seconds, memory) == excess
    assert budget.is_too_long(seconds) is ("processor" in excess)


class Machine:
    """A clock and a process, both set by the test, and how often the process was looked at."""

    def __init__(self, usage: Usage | None, budget: NoteBudget) -> None:
        self.now, self.usage, self.looks = 100.0, usage, 0
        self.watch = JobWatch(7, budget, self._look, lambda: self.now)

    def _look(self, pid: int) -> Usage | None:
        assert pid == 7
        self.looks += 1
        return self.usage

    def after(self, seconds: float, usage: Usage | None) -> str:
        self.now += seconds
        self.usage = usage
        return self.watch.verdict()


def test_a_process_is_looked_at_four_times_a_second_at_most() -> None:
    machine = Machine(Usage(1, 0), NoteBudget(seconds=1))
    machine.watch.note_mark(Mark(Usage(1, 0), "a.md"))
    for _ in range(10):
        assert machine.after(0.125, Usage(1, 0)) == ""
    assert machine.looks == 5


def test_the_verdict_is_about_what_the_note_took_by_itself() -> None:
    machine = Machine(Usage(5, 50 * MB), NoteBudget(10, 20 * MB))
    machine.watch.note_mark(Mark(Usage(5, 50 * MB), "a.md"))
    assert machine.after(1, Usage(15, 70 * MB)) == ""
    assert machine.watch.slow_note == ""
    assert machine.after(1, Usage(15, 70 * MB + 1)) == "took over 20 MB of memory"
    assert machine.watch.slow_note == "", "it is not slow"
    assert machine.after(1, Usage(15.5, 0)) == "took over 10 s of processor time"
    assert machine.watch.slow_note == "a.md"


def test_between_two_notes_nothing_is_too_much() -> None:
    machine = Machine(Usage(5, 0), NoteBudget(10, MB))
    machine.watch.note_mark(Mark(Usage(0, 0), "a.md"))
    machine.watch.note_mark(Mark(None))
    assert machine.after(1, Usage(99, 99 * MB)) == ""
    machine.watch.note_mark(None)
    assert machine.after(1, Usage(999, 999 * MB)) == ""


def test_a_worker_is_stuck_once_it_has_used_no_processor_time_for_a_quarter_of_an_hour() -> None:
    machine = Machine(Usage(5, 0), NoteBudget())
    machine.watch.note_mark(None)
    for _ in range(int(STALLED_S / 10) + 1):
        assert machine.after(10, Usage(5, 0)) == ""
    told = "the worker process made no progress for 15 minutes"
    assert machine.after(10, Usage(5, 0)) == told
    assert machine.after(1, Usage(5.25, 0)) == "", "it goes on"


def test_where_nothing_is_known_of_a_process_its_job_ends_after_four_hours() -> None:
    machine = Machine(None, NoteBudget(seconds=50))
    machine.watch.note_mark(None)
    for _ in range(4 * 360):
        assert machine.after(10, None) == ""
    assert machine.after(10, None) == "the worker process made no progress for 240 minutes"
    machine.watch.note_mark(Mark(Usage(0, 0), "a.md"))
    assert machine.after(10, None) == ""
    assert [machine.after(10, None) for _ in range(4)] == [""] * 4
    assert machine.after(10, None) == "took over 50 s of processor time"
    assert machine.watch.slow_note == "a.md"


def test_time_in_which_nobody_looked_is_not_counted() -> None:
    machine = Machine(None, NoteBudget(seconds=50))
    machine.watch.note_mark(Mark(Usage(0, 0), "a.md"))
    assert machine.after(10_000, None) == ""
    assert machine.after(10, None) == ""
    assert machine.after(10, None) == ""


def test_a_meter_that_nobody_listens_to_measures_all_the_same() -> None:
    meter = NoteMeter(lambda: Usage(1, 2))
    with meter.reading("a.md"), meter.outside():
        pass
    marks: list[Mark] = []
    meter.report = marks.append
    with pytest.raises(NoteError), meter.reading("b.md"):
        raise NoteError("broken")
    assert marks == [Mark(Usage(1, 2), "b.md"), Mark(None)]
    marks.clear()
    with pytest.raises(NoteError), meter.reading("c.md"), meter.outside():
        raise NoteError("broken")
    assert marks[-2:] == [Mark(Usage(1, 2), "c.md"), Mark(None)]


class Raising:
    """A job that ends as it is told."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def run(self, worker: object) -> object:
        if self._error:
            raise self._error
        return worker


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        (NoteError("broken"), Failed("broken")),
        (DiskFullError("full"), Failed("full", disk_full=True)),
        (OSError(28, "No space"), Failed("[Errno 28] No space", disk_full=True)),
        (OSError(5, "I/O"), Failed("[Errno 5] I/O")),
    ],
)
def test_a_foreseen_error_of_a_job_is_one_line(error: Exception, failed: Failed) -> None:
    assert run_job(Raising(error), object()) == failed
    assert JobWorker().handle(Raising(error)) == failed


def test_settings_say_what_a_process_and_a_note_may_take() -> None:
    settings = IndexSettings(nice=3, io_priority="idle", max_note_seconds=9.5, max_note_memory_mb=7)
    assert limits_of(settings) == ProcessLimits(3, "idle", 0)
    assert limits_of(settings, 5) == ProcessLimits(3, "idle", 5)
    assert note_budget(settings) == NoteBudget(9.5, 7 * MB)
    slow = {name: is_slow_model(EmbeddingSettings(provider=name)) for name in ("auto", "wordllama", "openai")}
    assert slow == {"auto": False, "wordllama": False, "openai": True}


@pytest.mark.parametrize(
    ("memory_mb", "is_slow", "workers", "share"),
    [
        (192 * 9, False, 4, 192),
        (192 * 9 - 1, False, 3, (192 * 9 - 1) * MB // 7 / MB),
        (192 * 11, False, 4, 192 * 11 * MB // 9 / MB),
        (1024 * 4, True, 1, 1024),
        (1024 * 6, True, 2, 1024),
        (1024 * 6 - 1, True, 1, (1024 * 6 - 1) * MB // 4 / MB),
        (512, True, 1, 128),
    ],
)
def test_the_memory_is_shared_by_all_that_may_run_at_once(
    memory_mb: int, is_slow: bool, workers: int, share: float
) -> None:
    settings = IndexSettings(workers=4, max_memory_mb=memory_mb)
    plan = PoolPlan.of(settings, is_slow_model=is_slow, memory_limit=lambda: 1)
    assert plan == PoolPlan(workers, limits_of(settings, int(share * MB)))


@pytest.mark.parametrize(("container_mb", "memory_mb"), [(2000, 1800), (393, 193), (392, 192), (10, 192)])
def test_of_the_memory_of_a_container_the_daemon_takes_some(container_mb: int, memory_mb: int) -> None:
    settings = IndexSettings(workers=2)
    of_container = PoolPlan.of(settings, is_slow_model=False, memory_limit=lambda: container_mb * MB)
    workers = 2 if memory_mb == 1800 else 1
    assert of_container == PoolPlan(workers, limits_of(settings, memory_mb * MB // (2 * workers + 1)))


def exit_with_status(_connection: object) -> None:
    raise SystemExit(7)


@pytest.mark.long
def test_a_process_that_is_waited_for_may_have_a_status_of_its_own() -> None:
    child = ChildProcess(exit_with_status)
    assert child.pid > 0
    child.join()
    assert not child.is_alive()
    assert child.end() == "the process ended with status 7"


def wait_for_a_message(connection: Connection) -> None:
    connection.send("ready")
    connection.recv()


@pytest.mark.long
def test_a_process_that_is_ended_was_ended_by_a_signal() -> None:
    child = ChildProcess(wait_for_a_message)
    assert child.receive() == "ready"
    assert child.is_alive()
    assert child.end() == "the process ended by signal 9"
    assert not child.is_alive()


def print_a_word(_connection: Connection) -> None:
    print("said by a library", flush=True)


@pytest.mark.long
def test_what_a_process_prints_goes_to_the_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    ChildProcess(print_a_word).join()
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "said by a library\n")
