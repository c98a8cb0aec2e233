"""A disk that is full, read-only, or whose index is deleted: one clear line and an exit status."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from cli_sandbox import Ran, Sandbox

from vault_indexer.daemon.discovery import read_daemon

pytestmark = pytest.mark.long


FULL_DEVICE = Path("/dev/full")
WAIT_S = 120.0


@cache
def may_mount() -> bool:
    """Whether this user may mount in a namespace of their own."""
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0


@pytest.fixture
def needs_mounting() -> None:
    if not may_mount():
        pytest.skip("a file system cannot be mounted here")


def on_a_small_disk(sandbox: Sandbox, prepare: str, *arguments: str) -> Ran:
    """`indexer ARGUMENTS` with the index on a file system of its own, 1.5 MB large, after a shell command."""
    place = ["--vault", str(sandbox.vault), "--index-dir", str(sandbox.root / "disk" / "index")]
    (sandbox.root / "disk").mkdir(exist_ok=True)
    script = f'mount -t tmpfs -o size=1500k none disk && {prepare} && exec "$@"'
    command = [sys.executable, "-m", "vault_indexer.cli", *arguments, *place]
    return sandbox.run_program(["unshare", "-rm", "sh", "-c", script, "sh", *command], timeout=WAIT_S)


def complaints(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if line.startswith("indexer: ")]


FILL = "cp -r index disk/index && { cat /dev/zero > disk/filler 2> /dev/null || true; }"
READ_ONLY = "cp -r index disk/index && mount -o remount,ro disk"


@pytest.mark.usefixtures("needs_mounting")
@pytest.mark.parametrize(
    ("prepare", "command", "said"),
    [
        *((FILL, command, "full") for command in ("search telescope", "rebuild", "start")),
        *((READ_ONLY, command, "Read-only file system") for command in ("search telescope", "start")),
    ],
)
def test_a_full_disk_and_a_read_only_index_are_one_clear_line(
    copied: Sandbox, prepare: str, command: str, said: str
) -> None:
    copied.write("Welcome.md", f"# Welcome\n\nEdited before {command}.\n")
    ran = on_a_small_disk(copied, prepare, *command.split())
    assert (ran.code, ran.out) == (3, ""), ran.err
    [line] = complaints(ran)
    assert str(copied.root / "disk" / "index") in line
    assert said in line and "Traceback" not in ran.err
    assert "a mistake in this program" not in ran.err


@pytest.mark.usefixtures("needs_mounting")
def test_an_edit_that_finds_no_room_is_made_when_there_is_some(copied: Sandbox) -> None:
    copied.write("Late.md", "# Late\n\nThe astrolabe came late.\n")
    ran = on_a_small_disk(
        copied, f'{FILL} && ! "$@" && mount -o remount,size=64m disk', "search", "astrolabe"
    )
    assert "Late.md" in ran.out
    [line] = complaints(ran)
    assert str(copied.root / "disk" / "index") in line and "is full" in line and "required" in line


def answers_at_last(sandbox: Sandbox, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if read_daemon(sandbox.index_dir) is not None:
            ran = sandbox.indexer("search", "starter", "--fresh", timeout=WAIT_S)
            if "Bread.md" in ran.out and "rebuild is under way" not in ran.err:
                return
        with pytest.raises(subprocess.TimeoutExpired):  # it goes on meanwhile
            process.wait(1.0)
    raise AssertionError("the daemon does not answer")


def test_a_daemon_whose_index_is_deleted_again_and_again_ends(sandbox: Sandbox) -> None:
    process = sandbox.serve()
    try:
        for _ in range(2):  # it is announced again, and answers, once it was deleted
            answers_at_last(sandbox, process)
            shutil.rmtree(sandbox.index_dir.rename(sandbox.root / "deleted"))
        _, err = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert process.returncode == 3, err
    *_, last = err.splitlines()
    assert last.startswith("indexer: ") and str(sandbox.index_dir) in last
    assert "deleted a second time" in last and "the daemon ends" in last
    assert "Traceback" not in err


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="there is no /dev/full")
def test_an_answer_that_finds_no_room_is_one_clear_line(copied: Sandbox) -> None:
    command = [sys.executable, "-m", "vault_indexer.cli", "export"]
    ran = copied.run_program(["sh", "-c", f'exec "$@" > {FULL_DEVICE}', "sh", *command, *copied.place])
    assert (ran.code, ran.err) == (3, "indexer: No space left on device\n")
