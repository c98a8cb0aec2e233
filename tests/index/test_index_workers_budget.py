"""What reading a note may take, to the second and the byte, and how many share a machine; what a worker
process takes of it: one core, its priorities, its share of memory."""

import ctypes
import importlib
import os
import platform
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from vault_indexer.config.settings import EmbeddingSettings, IndexSettings
from vault_indexer.errors import DiskFullError, NoteError, ProcessError
from vault_indexer.index.workers import process
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
    upkeep_limits,
)
from vault_indexer.index.workers.pool import Died, Failed, JobWorker, WorkerPool, run_job
from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import ProcessLimits, Usage
from vault_indexer.system.processes import MemoryWatch, lower_io_priority, usable_cores

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


def print_and_exit(_connection: object) -> None:
    print("said by a library", flush=True)
    raise SystemExit(7)


@pytest.mark.posix("line ends of streams")
@pytest.mark.long
def test_a_process_may_have_a_status_of_its_own_and_what_it_prints_goes_to_the_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = ChildProcess(print_and_exit)
    assert child.pid > 0
    child.join()
    assert not child.is_alive()
    assert child.end() == "the process ended with status 7"
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "said by a library\n")


def wait_for_a_message(connection: Connection) -> None:
    connection.send("ready")
    connection.recv()


@pytest.mark.posix("signals")
@pytest.mark.long
def test_a_process_that_is_ended_was_ended_by_a_signal() -> None:
    child = ChildProcess(wait_for_a_message)
    assert child.receive() == "ready"
    assert child.is_alive()
    assert child.end() == "the process ended by signal 9"
    assert not child.is_alive()


ON_LINUX = sys.platform.startswith("linux")
IOPRIO_GET = {"x86_64": 252, "aarch64": 31, "riscv64": 31}


class Looking:
    """Looks at its own process, after work that would start threads if it might."""

    def handle(self, job: str) -> tuple[int, ...]:
        if job == "priorities":
            return os.getpriority(os.PRIO_PROCESS, 0), io_priority()
        return threads_of(job)


def threads_of(library: str) -> tuple[int, ...]:
    """How many threads the library would use, and how many more this process has after it worked."""
    before = len(list(Path("/proc/self/task").iterdir()))
    numpy = importlib.import_module("numpy")
    matrix = numpy.random.default_rng(1).random((600, 600), dtype=numpy.float32)
    wanted = 1
    if library == "faiss":
        faiss = importlib.import_module("faiss")
        index = faiss.IndexFlatIP(600)
        index.add(matrix)
        index.search(matrix, 10)
        wanted = faiss.omp_get_max_threads()
    elif library == "torch":
        torch = importlib.import_module("torch")
        tensor = torch.from_numpy(matrix)
        tensor @ tensor
        wanted = torch.get_num_threads()
    else:
        matrix @ matrix
    return wanted, len(list(Path("/proc/self/task").iterdir())) - before


def io_priority() -> int:
    """Class and level as the kernel packs them."""
    number = IOPRIO_GET[platform.machine()]
    return int(ctypes.CDLL(None).syscall(number, 1, 0))


def looked_up(job: str, limits: ProcessLimits) -> tuple[int, ...]:
    """What a worker with these limits says of its process."""
    pool: WorkerPool[str, tuple[int, ...]] = WorkerPool(1, Looking, limits)
    with closing(pool):
        ((_, result),) = pool.run([job])
    assert not isinstance(result, Died)
    return result


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX, reason="threads are counted in /proc")
@pytest.mark.parametrize("library", ["faiss", "numpy", "torch"])
def test_a_worker_keeps_to_one_core_whatever_its_libraries_would_take(library: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"no {library}")
    assert looked_up(library, ProcessLimits()) == (1, 0)


@pytest.mark.posix("niceness")
@pytest.mark.long
def test_a_worker_gives_way() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert looked_up("priorities", ProcessLimits(nice=min(own + 1, 19)))[0] == min(own + 1, 19)
    assert looked_up("priorities", ProcessLimits(nice=0))[0] == own, "a priority is never raised"


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX or platform.machine() not in IOPRIO_GET, reason="no number of the call")
def test_a_worker_gives_way_at_the_disk() -> None:
    before = io_priority()
    for wanted, packed in (("low", 2 << 13 | 7), ("idle", 3 << 13), ("normal", before)):
        limits = ProcessLimits(io_priority=wanted)  # type: ignore[arg-type] # a literal of the loop
        assert looked_up("priorities", limits)[1] == packed, wanted
    assert io_priority() == before, "only the worker's own"
    assert lower_io_priority("normal") is False


@pytest.mark.skipif(not ON_LINUX or platform.machine() not in IOPRIO_GET, reason="no number of the call")
def test_whether_the_system_took_the_priority_at_the_disk_is_said() -> None:
    with ThreadPoolExecutor(1) as pool:  # it is that of one thread, which ends
        is_taken, priority = pool.submit(lambda: (lower_io_priority("low"), io_priority())).result()
    assert is_taken == (priority == 2 << 13 | 7)


def test_a_model_larger_than_the_share_is_not_loaded_anew_for_every_job() -> None:
    taken = iter([500, 510, 540, 560])
    appetite = MemoryWatch(100, lambda: next(taken))
    assert [appetite.is_too_much() for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("settings", "is_slow", "plan"),
    [
        (IndexSettings(), False, PoolPlan(usable_cores(), ProcessLimits(10, "low", 0))),
        (
            IndexSettings(workers=3, nice=4, io_priority="idle"),
            True,
            PoolPlan(3, ProcessLimits(4, "idle", 0)),
        ),
    ],
)
def test_no_limit_means_one_worker_a_core(settings: IndexSettings, is_slow: bool, plan: PoolPlan) -> None:
    assert PoolPlan.of(settings, is_slow_model=is_slow, memory_limit=lambda: None) == plan


@pytest.mark.parametrize(("nice", "upkeep"), [(0, 5), (10, 15), (17, 19), (19, 19)])
def test_a_merge_lets_edits_run_before_it(nice: int, upkeep: int) -> None:
    settings = IndexSettings(nice=nice, io_priority="normal")
    assert upkeep_limits(settings) == ProcessLimits(upkeep, "normal", 0)


def test_no_process_of_a_replaced_package_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tmp_path / process._ENTRY.name
    shutil.copy2(process._ENTRY, entry)
    for replaced in (entry, tmp_path / "removed.py"):
        monkeypatch.setattr(process, "_ENTRY", replaced)
        with pytest.raises(ProcessError, match="upgraded or removed while this process ran: restart it"):
            process.ChildProcess(print_and_exit)
