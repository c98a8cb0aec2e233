"""A daemon that its user's limits would break says what it needs, and does not begin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_indexer.system import missing_limits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")


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
GB = 1 << 30


@pytest.mark.parametrize(
    ("soft", "hard", "size", "said", "files"),
    [
        (64, 5000, -1, "", "4096 5000"),
        (64, 128, -1, "", "128 128"),
        (64, 127, -1, "the daemon needs 128 open files, and has 127: raise `ulimit -n`", "127 127"),
        (4096, 5000, GB, "", "4096 5000"),
        (4500, 5000, 2 * GB, "", "4500 5000"),
        (
            4096,
            5000,
            GB - 1,
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
