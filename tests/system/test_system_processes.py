"""Processes, locks and renames: what Windows does otherwise, through the functions that know it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PROCESS_S

from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import LockedError
from vault_indexer.system import (
    ask_to_end,
    command_words,
    free_bytes,
    fsync_dir,
    fsync_file,
    only_writer,
    quoted_word,
    replace_file,
    start_in_background,
    write_atomically,
)
from vault_indexer.system.durable import PAUSES_S, retrying

pytestmark = pytest.mark.portable

WAITS = "import sys; sys.stderr.write('ready\\n'); sys.stderr.flush(); sys.stdin.read()"
SILENT = """
import os, sys
os.close(1)
sys.stdout = None
from vault_indexer.system import open_missing_streams
open_missing_streams()
print("to nobody")
sys.stderr.write(f"{sys.stdout.fileno()}")
"""


def test_a_process_ends_when_it_is_asked_to() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        assert child.stderr.readline().strip() == b"ready"
        assert child.poll() is None
        ask_to_end(child.pid)
        child.wait(PROCESS_S)


def test_a_process_in_the_background_says_why_it_ends(tmp_path: Path) -> None:
    with start_in_background([sys.executable, "-c", "import sys; sys.exit('no reason')"], tmp_path) as child:
        assert child.stderr is not None
        assert child.stderr.read().strip() == b"no reason"
    assert child.returncode == 1


@pytest.mark.parametrize(
    ("word", "posix", "windows"),
    [
        ("work", "work", "work"),
        ("/my notes", "'/my notes'", '"/my notes"'),
        (r"C:\Notes\my-vault.d", r"'C:\Notes\my-vault.d'", r"C:\Notes\my-vault.d"),
        (r"C:\My Notes", r"'C:\My Notes'", r'"C:\My Notes"'),
        ("D:\\a & b\\", "'D:\\a & b\\'", '"D:\\a & b\\\\"'),
    ],
)
def test_a_word_of_a_printed_command_is_quoted_and_read_as_the_shell_does(
    word: str, posix: str, windows: str
) -> None:
    assert (quoted_word(word, windows=False), quoted_word(word, windows=True)) == (posix, windows)
    assert command_words(f"edit {posix} -w", windows=False) == ["edit", word, "-w"]
    if not word.endswith("\\"):
        assert command_words(f"edit {windows} -w", windows=True) == ["edit", word, "-w"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions of processes")
def test_a_program_in_the_background_has_a_session_of_its_own(tmp_path: Path) -> None:
    says_session = "import os, sys; sys.exit(f'{os.getsid(0) == os.getpid()}')"
    with start_in_background([sys.executable, "-c", says_session], tmp_path) as child:
        assert child.stderr is not None
        assert child.stderr.read().strip() == b"True"


def test_a_missing_stream_leads_nowhere() -> None:
    done = subprocess.run([sys.executable, "-c", SILENT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1")


def test_what_is_refused_for_a_moment_is_tried_again() -> None:
    pauses: list[float] = []
    errors = iter([PermissionError("open elsewhere"), PermissionError("open elsewhere")])

    def rename() -> None:
        error = next(errors, None)
        if error is not None:
            raise error

    retrying(rename, pauses.append)
    assert pauses == list(PAUSES_S[:2])

    def refused() -> None:
        raise PermissionError("for ever")

    with pytest.raises(PermissionError, match="for ever"):
        retrying(refused, pauses.append)
    assert pauses[2:] == list(PAUSES_S)

    def gone() -> None:
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError):
        retrying(gone, pauses.append)
    assert len(pauses) == 2 + len(PAUSES_S)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "CURRENT"
    for text in (b"one\n", b"two\n"):
        write_atomically(file, text)
        assert file.read_bytes() == text
    fsync_file(file)
    fsync_dir(tmp_path)
    (tmp_path / "folder.part").mkdir()
    replace_file(tmp_path / "folder.part", tmp_path / "folder")
    with only_writer(tmp_path / "folder"), pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "gone", file)
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.suffix != ".lock") == [
        "CURRENT",
        "folder",
    ]
    assert 0 < free_bytes(tmp_path / "not" / "there") < 1 << 62


def test_one_writer_for_an_index(tmp_path: Path) -> None:
    holder = rf"process {os.getpid()} \(first\)"
    with IndexLock(tmp_path, "first"), pytest.raises(LockedError, match=holder):
        IndexLock(tmp_path, "second").acquire()
    IndexLock(tmp_path, "third").acquire()
