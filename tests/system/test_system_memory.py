"""How much memory is left, by the files of Linux; and which process the system ends where there is none."""

import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import free_memory, memory_limit

MB = 1024**2
MEMINFO = f"MemTotal: 8000 kB\nMemFree: 1 kB\nMemAvailable: {900 * 1024} kB\n"


def files(folder: Path, texts: dict[str, str]) -> tuple[Path, Path]:
    """The folders that stand for `/proc` and `/sys/fs/cgroup`."""
    for name, text in {"proc/meminfo": MEMINFO, **texts}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "ascii")
    return folder / "proc", folder / "groups"


def group(folder: str, limit: str, used: int, droppable: int) -> dict[str, str]:
    """The files of a group, second version, in bytes."""
    return {
        f"groups/{folder}memory.max": f"{limit}\n",
        f"groups/{folder}memory.current": f"{used}\n",
        f"groups/{folder}memory.stat": f"anon 1\ninactive_file {droppable}\n",
    }


def first_version(folder: str, limit: int, used: int, droppable: int) -> dict[str, str]:
    """The files of a group, first version, in bytes."""
    return {
        f"groups/memory/{folder}memory.limit_in_bytes": f"{limit}\n",
        f"groups/memory/{folder}memory.usage_in_bytes": f"{used}\n",
        f"groups/memory/{folder}memory.stat": f"total_inactive_file {droppable}\n",
    }


@pytest.mark.parametrize(
    ("texts", "limit_mb", "free_mb"),
    [
        ({}, None, 900),
        ({"proc/self/cgroup": "0::/\n", **group("", "max", 5 * MB, 0)}, None, 900),
        ({"proc/self/cgroup": "0::/a/b\n", **group("a/b/", str(400 * MB), 350 * MB, 100 * MB)}, 400, 150),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                **group("a/b/", str(400 * MB), 100 * MB, 0),
                **group("a/", str(300 * MB), 280 * MB, 0),
            },
            300,
            20,
        ),
        ({"proc/self/cgroup": "0::/of/the/machine\n", **group("", str(200 * MB), 60 * MB, 0)}, 200, 140),
        (
            {"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n", **first_version("x/", 500 * MB, 90 * MB, MB)},
            500,
            411,
        ),
        ({"proc/self/cgroup": "0::/\n", **group("", str(50 * MB), 60 * MB, 0)}, 50, 0),
    ],
    ids=["no group", "no limit", "a group", "a group above", "a container", "first version", "over it"],
)
def test_the_least_limit_counts(
    tmp_path: Path, texts: dict[str, str], limit_mb: int | None, free_mb: int
) -> None:
    proc, groups = files(tmp_path, texts)
    limit, free = memory_limit(proc, groups), free_memory(proc, groups)
    assert (limit, free) == (limit_mb and limit_mb * MB, free_mb * MB)


@pytest.mark.parametrize(
    ("name", "text", "limit", "free"),
    [
        ("memory.stat", "inactive_file\n\ninactive_file 5\n", 100, 55),
        ("memory.stat", "", 100, 50),
        ("memory.stat", "other_inactive_file 7\ninactive_file 60\n", 100, 100),
        ("memory.current", "unknown\n", None, 900 * MB),
        ("memory.current", "120\n", 100, 0),
        ("memory.max", "", None, 900 * MB),
        ("memory.max", f"{1 << 60}\n", 1 << 60, 900 * MB),
        ("memory.max", f"{(1 << 60) + 1}\n", None, 900 * MB),
    ],
)
def test_what_a_group_does_not_tell_is_not_guessed(
    tmp_path: Path, name: str, text: str, limit: int | None, free: int
) -> None:
    told = {"proc/self/cgroup": "0::/\n", **group("", "100", 50, 0), f"groups/{name}": text}
    proc, groups = files(tmp_path, told)
    assert (memory_limit(proc, groups), free_memory(proc, groups)) == (limit, free)


def test_lines_of_other_controllers_and_broken_ones_are_passed_over(tmp_path: Path) -> None:
    lines = "broken\n3:cpu,cpuacct:/a\n2:memory,other:/b/c\n0::/d\n"
    proc, groups = files(
        tmp_path,
        {
            "proc/self/cgroup": lines,
            **first_version("b/c/", 500, 90, 10),
            **first_version("b/", 400, 390, 0),
            **first_version("", 1 << 61, 1, 0),
            **group("d/", "300", 10, 0),
            **group("", "200", 20, 0),
            "memory.max": "1\n",
            "memory.current": "1\n",
        },
    )
    assert (memory_limit(proc, groups), free_memory(proc, groups)) == (200, 10)


def test_a_system_that_does_not_tell(tmp_path: Path) -> None:
    assert (memory_limit(tmp_path, tmp_path), free_memory(tmp_path, tmp_path)) == (None, None)


def tell_score(connection: Connection) -> None:
    """Runs in a process of the indexer."""
    connection.send(Path("/proc/self/oom_score_adj").read_text("ascii"))
    connection.recv()


@pytest.mark.skipif(sys.platform != "linux", reason="the files of Linux")
def test_a_worker_is_ended_before_the_daemon() -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text("ascii"))
    child = ChildProcess(tell_score)
    try:
        assert int(child.receive()) == 500 > own
    finally:
        child.end()
