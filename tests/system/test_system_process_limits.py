"""What a process asks of the system for itself, and what it is told of itself."""

import gc
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest
from golden_cases import check_golden

from vault_indexer.system import (
    MemoryWatch,
    folder_slug,
    free_bytes,
    gc_paused,
    in_words,
    is_read,
    keep_to_one_thread,
    limit_malloc_arenas,
    own_usage,
    python_command,
    trim_heap,
    usable_cores,
)
from vault_indexer.system.memory import back_by_huge_pages
from vault_indexer.system.processes import resident_bytes

MB = 1 << 20
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"),
)


@pytest.mark.parametrize(
    ("share", "taken", "verdicts"),
    [
        (0, [5, 500], [False, False]),
        (100, [50, 100, 101], [False, False, True]),
        (100, [200, 219, 220, 221], [False, False, False, True]),
        (100, [200, 90, 221], [False, False, True]),
    ],
)
def test_a_process_is_too_large_once_it_has_grown_beyond_its_share(
    share: int, taken: list[int], verdicts: list[bool]
) -> None:
    sizes = iter(taken)
    watch = MemoryWatch(share, lambda: next(sizes))
    assert [watch.is_too_much() for _ in taken] == verdicts


def test_a_watch_looks_at_its_own_process() -> None:
    assert not MemoryWatch(1 << 60).is_too_much()
    watch = MemoryWatch(1)
    assert not watch.is_too_much()
    ballast = b"x" * (resident_bytes() // 4)
    assert watch.is_too_much()
    assert ballast


def test_a_process_knows_what_it_has_taken() -> None:
    before = own_usage()
    with mmap.mmap(-1, 256 * MB) as ballast:
        for page in range(0, len(ballast), mmap.PAGESIZE):
            ballast[page] = 1
        after = own_usage()
    assert 128 * MB < after.resident - before.resident < 384 * MB
    assert 0 < before.seconds <= after.seconds < 3600


def test_libraries_keep_to_one_thread_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*THREADS, "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    keep_to_one_thread()
    assert {name: os.environ[name] for name in THREADS} == {
        **dict.fromkeys(THREADS, "1"),
        "OMP_NUM_THREADS": "7",
    }
    assert os.environ["TOKENIZERS_PARALLELISM"] == "false"


ADOPTED = f"""
import os
from vault_indexer.system import ProcessLimits
os.environ["OMP_NUM_THREADS"] = "7"
before = os.getpriority(os.PRIO_PROCESS, 0)
ProcessLimits(nice=before + 2).adopt()
after = os.getpriority(os.PRIO_PROCESS, 0)
ProcessLimits().adopt()
again = os.getpriority(os.PRIO_PROCESS, 0)
print(after - before, again - before, *(os.environ[name] for name in {THREADS!r}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has classes of priority")
def test_limits_are_for_the_process_that_adopts_them() -> None:
    done = subprocess.run([sys.executable, "-c", ADOPTED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "2", *["1"] * len(THREADS)]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity")
def test_only_the_cores_that_may_be_used_count() -> None:
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
    command = f"{code}; from vault_indexer.system import usable_cores; print(usable_cores())"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
    assert usable_cores() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_as_it_was_after_the_block(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(ZeroDivisionError), gc_paused():
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


ARENAS = """
import ctypes, sys
from vault_indexer.system import memory

asked = []
real = memory.c_function
def told(name):
    return (lambda *values: asked.append((name, *values)))
memory.c_function = told
memory.limit_malloc_arenas()
memory.trim_heap()
print(asked)
"""


def test_the_allocator_is_told_without_harm() -> None:
    limit_malloc_arenas()
    trim_heap()
    done = subprocess.run([sys.executable, "-c", ARENAS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(
        [("mallopt", -8, 2), ("mallopt", -3, 4 * MB), ("mallopt", -1, 32 * MB), ("malloc_trim", 0)]
    )


@pytest.mark.parametrize(
    ("address", "size"), [(1, 4 * MB - 2), (2 * MB + 1, 2 * MB), (5, 1000), (0, 2 * MB - 1)]
)
def test_a_range_without_a_whole_large_page_is_left_alone(address: int, size: int) -> None:
    assert not back_by_huge_pages(address, size)


def test_bytes_in_words() -> None:
    check_golden(Path(__file__).parent / "fixtures" / "sizes.md", {"": lambda count: in_words(int(count))})


@pytest.mark.posix("Wine answers for a folder below a file")
def test_a_place_that_cannot_be_asked_for_has_room(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) == pytest.approx(free_bytes(tmp_path / "a" / "b"), rel=0.2)
    (tmp_path / "file").write_bytes(b"x")
    assert free_bytes(tmp_path / "file" / "below") == 1 << 62


def test_python_imports_nothing_from_its_working_folder() -> None:
    assert python_command("-c", "pass") == [sys.executable, "-P", "-c", "pass"]
    assert python_command(program="python") == ["python", "-P"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells only when it is written")
def test_a_pipe_whose_reader_has_gone_is_not_read() -> None:
    reader, writer = os.pipe()
    assert is_read(writer)
    os.close(reader)
    assert not is_read(writer)
    os.close(writer)
    assert not is_read(writer)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("My Vault", "my-vault"),
        ("--a--b--", "a-b"),
        ("土星", "vault"),
        ("x" * 41, "x" * 40),
        (f"{'x' * 39}-y", "x" * 39),
    ],
)
def test_a_short_name_of_a_folder(name: str, slug: str) -> None:
    assert folder_slug(Path("/vaults") / name) == slug
