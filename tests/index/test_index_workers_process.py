"""What a worker process takes of the machine: one core, its priorities, its share of memory."""

import ctypes
import importlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from vault_indexer.config.settings import IndexSettings
from vault_indexer.errors import ProcessError
from vault_indexer.index.workers import process
from vault_indexer.index.workers.budget import PoolPlan, upkeep_limits
from vault_indexer.index.workers.pool import Died, WorkerPool
from vault_indexer.system.processes import MemoryWatch, ProcessLimits, lower_io_priority, usable_cores

MB = 1 << 20
ON_LINUX = sys.platform.startswith("linux")
IOPRIO_GET = {"x86_64": 252, "aarch64": 31, "riscv64": 31}


class Looking:
    """Looks at its own process, after work that would start threads if it might."""

    def handle(self, job: str) -> tuple[int, ...]:
        if job == "priorities":
            return os.getpriority(os.PRIO_PROCESS, 0), io_priority()
        return threads_of(job)


def start_looking() -> Looking:
    return Looking()


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


@contextmanager
def pool_of(limits: ProcessLimits) -> Iterator[Callable[[str], tuple[int, ...]]]:
    pool: WorkerPool[str, tuple[int, ...]] = WorkerPool(1, start_looking, limits)

    def ask(job: str) -> tuple[int, ...]:
        ((_, result),) = pool.run([job])
        assert not isinstance(result, Died)
        return result

    try:
        yield ask
    finally:
        pool.close()


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX, reason="threads are counted in /proc")
@pytest.mark.parametrize("library", ["faiss", "numpy", "torch"])
def test_a_worker_keeps_to_one_core_whatever_its_libraries_would_take(library: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"no {library}")
    with pool_of(ProcessLimits()) as ask:
        wanted, more = ask(library)
    assert wanted == 1
    assert more == 0


@pytest.mark.long
def test_a_worker_gives_way() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with pool_of(ProcessLimits(nice=own + 1 if own < 19 else 19)) as ask:
        assert ask("priorities")[0] == min(own + 1, 19)
    with pool_of(ProcessLimits(nice=0)) as ask:
        assert ask("priorities")[0] == own, "a priority is never raised"


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX or platform.machine() not in IOPRIO_GET, reason="no number of the call")
def test_a_worker_gives_way_at_the_disk() -> None:
    before = io_priority()
    for wanted, packed in (("low", 2 << 13 | 7), ("idle", 3 << 13), ("normal", before)):
        with pool_of(ProcessLimits(io_priority=wanted)) as ask:  # type: ignore[arg-type] # a literal of the loop
            assert ask("priorities")[1] == packed, wanted
    assert io_priority() == before, "only the worker's own"
    assert lower_io_priority("normal") is False


@pytest.mark.skipif(not ON_LINUX or platform.machine() not in IOPRIO_GET, reason="no number of the call")
def test_whether_the_system_took_the_priority_at_the_disk_is_said() -> None:
    with ThreadPoolExecutor(1) as pool:  # it is that of one thread, which ends
        is_taken, priority = pool.submit(lambda: (lower_io_priority("low"), io_priority())).result()
    assert is_taken == (priority == 2 << 13 | 7)


class Hoarding:
    """Keeps memory with every job, and says at the end how much it had."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []

    def handle(self, job: int) -> tuple[int, int]:
        if job < 0:
            return os.getpid(), len(self._kept)
        self._kept.append(b"x" * (20 * MB))
        return os.getpid(), len(self._kept)


def start_hoarding() -> Hoarding:
    return Hoarding()


@pytest.mark.long
def test_a_worker_that_outgrows_its_share_hands_over_and_is_replaced() -> None:
    jobs, final_job = list(range(30)), -1
    with closing(WorkerPool(1, start_hoarding, ProcessLimits(memory_bytes=150 * MB), final_job)) as pool:
        done = [(job, result) for job, result in pool.run(jobs) if not isinstance(result, Died)]
        last = [result for _, result in pool.each(final_job) if not isinstance(result, Died)]
    assert [job for job, _ in done] == jobs
    assert len({pid for _, (pid, _) in done}) >= 3
    assert max(kept for _, (_, kept) in done) * 20 <= 150 + 20, "memory never went far beyond the share"
    assert sum(kept for _, kept in last) == len(jobs), "nothing that a worker had collected is lost"


def test_a_model_larger_than_the_share_is_not_loaded_anew_for_every_job() -> None:
    taken = iter([500, 510, 540, 560])
    appetite = MemoryWatch(100, lambda: next(taken))
    assert [appetite.is_too_much() for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize("limit", [512, 600, 1000, 4000, 100_000])
@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("cores", [1, 2, 16])
def test_all_that_may_run_at_once_is_within_the_limit(limit: int, slow: bool, cores: int) -> None:
    plan = PoolPlan.of(IndexSettings(workers=cores, max_memory_mb=limit), is_slow_model=slow)
    assert 1 <= plan.workers <= cores
    # Workers for edits, workers of a build, the builder, the spare worker.
    assert (2 * plan.workers + 1 + slow) * plan.limits.memory_bytes <= limit * MB
    if not slow:
        assert plan.limits.memory_bytes >= 160 * MB, "there are as few as it takes"


def no_limit() -> None:
    """Of a machine without containers."""


def test_no_limit_means_one_worker_a_core() -> None:
    assert PoolPlan.of(IndexSettings(), is_slow_model=False, memory_limit=no_limit) == PoolPlan(
        usable_cores(), ProcessLimits(10, "low", 0)
    )
    chosen = IndexSettings(workers=3, nice=4, io_priority="idle")
    assert PoolPlan.of(chosen, is_slow_model=True, memory_limit=no_limit) == PoolPlan(
        3, ProcessLimits(4, "idle", 0)
    )


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
            process.ChildProcess(start_looking)  # type: ignore[arg-type]
