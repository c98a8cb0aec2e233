"""A daemon that its user's limits would break says what it needs, and does not begin."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("-n", 64, "the daemon needs 128 open files, and has 64: raise `ulimit -n`"),
        (
            "-v",
            400 * 1024,
            "the daemon needs 1024 MB of address space, and has 400: raise `ulimit -v`",
        ),
    ],
    ids=["files", "memory"],
)
def test_too_low_a_limit_ends_it_with_one_line(tmp_path: Path, limit: str, value: int, said: str) -> None:
    ended = serve(tmp_path, limit, value)
    assert ended.returncode == 3
    assert ended.stderr.splitlines() == [f"indexer: {said}"]
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("container_mb", "said"),
    [
        (None, ""),
        (320, ""),
        (256, "the daemon needs 300 MB of memory, and its container has 256"),
    ],
)
def test_a_container_that_is_too_small_is_named(container_mb: int | None, said: str) -> None:
    assert missing_limits(lambda: None if container_mb is None else container_mb * 1024**2) == said
