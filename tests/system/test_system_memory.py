"""How much memory and power there is, by the files of Linux, and what a daemon needs of its limits."""

import os
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from vault_indexer.index.workers.process import ChildProcess
from vault_indexer.system import free_memory, is_on_battery, memory_limit, missing_limits

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the files of Linux")
with_limits = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")

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


@on_linux
def test_a_worker_is_ended_before_the_daemon() -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text("ascii"))
    child = ChildProcess(tell_score)
    try:
        assert int(child.receive()) == 500 > own
    finally:
        child.end()


@on_linux
@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, False),
        ({"AC": None}, False),
        ({"BAT0": b"Charging\n"}, False),
        ({"BAT0": b"Full\n", "BAT1": b" Discharging \n"}, True),
        ({"BAT0": b"", "BAT1": b"Discharging\n"}, True),  # the first cannot be read: it is a folder
        ({"BAT0": b"Discharging\xff\n"}, False),
    ],
)
def test_a_battery_that_discharges(tmp_path: Path, supplies: dict[str, bytes | None], expected: bool) -> None:
    for name, status in supplies.items():
        (tmp_path / name).mkdir()
        if status:
            (tmp_path / name / "status").write_bytes(status)
        elif status is not None:
            (tmp_path / name / "status").mkdir()
    assert is_on_battery(tmp_path) is expected
    assert not is_on_battery(tmp_path / "missing")


def serve(folder: Path, limit: str, value: int) -> subprocess.CompletedProcess[str]:
    """`indexer serve` in a shell that has set the limit."""
    vault = folder / "vault"
    vault.mkdir()
    command = f'ulimit {limit} {value}; exec "$0" -m vault_indexer serve --vault "$1" --index-dir "$2"'
    return subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, vault, folder / "index"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)},
    )


@pytest.mark.long
@with_limits
@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("-n", 64, "the daemon needs 128 open files, and has 64: raise `ulimit -n`"),
        ("-v", 400 * 1024, "the daemon needs 1024 MB of address space, and has 400: raise `ulimit -v`"),
    ],
    ids=["files", "memory"],
)
def test_too_low_a_limit_ends_it_with_one_line(tmp_path: Path, limit: str, value: int, said: str) -> None:
    ended = serve(tmp_path, limit, value)
    assert ended.returncode == 3
    assert ended.stderr.splitlines() == [f"indexer: {said}"]
    assert not (tmp_path / "index").exists()


@with_limits
@pytest.mark.parametrize("size", [None, 300 << 20, (300 << 20) - 1])
def test_a_container_of_less_than_300_mb_is_named(size: int | None) -> None:
    said = "the daemon needs 300 MB of memory, and its container has 299"
    assert missing_limits(lambda: size) == (said if size == (300 << 20) - 1 else "")


LIMITED = """
import resource, sys
from vault_indexer.system import missing_limits
soft, hard, size = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
resource.setrlimit(resource.RLIMIT_AS, (size, size))
print(missing_limits(lambda: None))
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@with_limits
@pytest.mark.parametrize(
    ("soft", "hard", "size", "said", "files"),
    [
        (64, 5000, -1, "", "4096 5000"),
        (64, 128, -1, "", "128 128"),
        (64, 127, -1, "the daemon needs 128 open files, and has 127: raise `ulimit -n`", "127 127"),
        (4096, 5000, 1024 * MB, "", "4096 5000"),
        (4500, 5000, 2048 * MB, "", "4500 5000"),
        (
            4096,
            5000,
            1024 * MB - 1,
            "the daemon needs 1024 MB of address space, and has 1023: raise `ulimit -v`",
            "4096 5000",
        ),
    ],
)
def test_files_are_raised_as_far_as_they_may_and_the_rest_is_named(
    soft: int, hard: int, size: int, said: str, files: str
) -> None:
    command = [sys.executable, "-c", LIMITED, str(soft), str(hard), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [said, files]
