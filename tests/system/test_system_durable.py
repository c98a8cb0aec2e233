"""Files that are written whole or not at all, whatever lies in their way, and files that are believed."""

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from vault_indexer.system import (
    atomic_file,
    fsync_dir,
    fsync_file,
    only_writer,
    open_to_append,
    owner_fault,
    read_own,
    temporary_prefix,
    write_atomically,
    write_fault,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes of POSIX")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_the_users_alone_unless_another_mode_is_asked_for(tmp_path: Path) -> None:
    write_atomically(tmp_path / "private", b"one")
    assert ((tmp_path / "private").read_bytes(), mode_of(tmp_path / "private")) == (b"one", 0o600)
    write_atomically(tmp_path / "shared", b"two", 0o644)
    assert mode_of(tmp_path / "shared") == 0o644
    with atomic_file(tmp_path / "pieces") as file:
        file.write(b"a")
        file.write(b"b")
        assert names_in(tmp_path)[0].startswith(temporary_prefix(tmp_path / "pieces"))
        assert not (tmp_path / "pieces").exists()
    assert ((tmp_path / "pieces").read_bytes(), mode_of(tmp_path / "pieces")) == (b"ab", 0o600)
    assert names_in(tmp_path) == ["pieces", "private", "shared"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", b"old")
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "file") as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert (tmp_path / "file").read_bytes() == b"old"
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "folder", b"new")
    assert names_in(tmp_path) == ["file", "folder"]


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"ours")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_bytes() == b"ours"
    assert (tmp_path / "target").read_bytes() == b"theirs"


def test_a_name_of_any_length_has_a_temporary_file(tmp_path: Path) -> None:
    longest = tmp_path / ("ä" * 127)
    write_atomically(longest, b"x")
    assert longest.read_bytes() == b"x"
    assert temporary_prefix(Path("folder/name.txt")) == ".name.txt."
    assert temporary_prefix(Path("x" * 200)) == f".{'x' * 200}."
    assert temporary_prefix(Path("x" * 201)) == f".{'x' * 200}."
    assert temporary_prefix(Path(f"x{'ä' * 110}")) == f".x{'ä' * 99}."


@pytest.mark.parametrize(("age_s", "is_removed"), [(3500, False), (3700, True)])
def test_what_a_crash_left_is_removed_after_an_hour(tmp_path: Path, age_s: float, is_removed: bool) -> None:
    prefix = temporary_prefix(tmp_path / "file")
    for name in (f"{prefix}0.tmp", f"{prefix}1.other", ".another.0.tmp"):
        (tmp_path / name).write_bytes(b"left")
        os.utime(tmp_path / name, (time.time() - age_s, time.time() - age_s))
    write_atomically(tmp_path / "file", b"x")
    assert (tmp_path / f"{prefix}0.tmp").exists() is not is_removed
    assert (tmp_path / f"{prefix}1.other").exists()
    assert (tmp_path / ".another.0.tmp").exists()


def test_a_link_that_a_crash_left_is_removed_by_its_own_age(tmp_path: Path) -> None:
    old = time.time() - 9_000
    left = tmp_path / f"{temporary_prefix(tmp_path / 'file')}0.tmp"
    left.symlink_to("nowhere")
    os.utime(left, (old, old), follow_symlinks=False)
    write_atomically(tmp_path / "file", b"x")
    assert names_in(tmp_path) == ["file"]


def test_nothing_is_left_open(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("open files are counted in /proc")
    before = len(list(descriptors.iterdir()))
    write_atomically(tmp_path / "file", b"x")
    fsync_file(tmp_path / "file")
    fsync_dir(tmp_path)
    with only_writer(tmp_path):
        pass
    for missing in (fsync_file, fsync_dir, read_own):
        with pytest.raises(FileNotFoundError):
            missing(tmp_path / "none")
    with pytest.raises(NotADirectoryError):
        fsync_dir(tmp_path / "file")
    read_own(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    with suppress(OSError):
        open_to_append(tmp_path / "pipe")
    with suppress(OSError):
        read_own(tmp_path / "pipe")
    assert len(list(descriptors.iterdir())) == before


@pytest.mark.parametrize(
    ("refusal", "calls"),
    [
        (0, "F_FULLFSYNC"),
        (errno.ENOTSUP, "F_FULLFSYNC fsync"),
        (errno.EINVAL, "F_FULLFSYNC fsync"),
        (errno.ENOTTY, "F_FULLFSYNC fsync"),
        (errno.EIO, "F_FULLFSYNC"),
    ],
)
def test_macos_empties_the_cache_of_the_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int, calls: str
) -> None:
    import fcntl

    made: list[str] = []

    def control(_handle: int, command: int) -> None:
        assert command == 51
        made.append("F_FULLFSYNC")
        if refusal:
            raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _: made.append("fsync"))
    (tmp_path / "old").touch()
    ways: list[tuple[Callable[[], None], int]] = [
        (lambda: fsync_file(tmp_path / "old"), 1),
        (lambda: fsync_dir(tmp_path), 1),
        (lambda: write_atomically(tmp_path / "new", b"x"), 2),  # the file and its folder
    ]
    for sync, times in ways:
        made.clear()
        with pytest.raises(OSError, match="Input/output") if refusal == errno.EIO else nullcontext():
            sync()
            assert made == calls.split() * times
        assert made[0] == "F_FULLFSYNC"
    assert (tmp_path / "new").exists() is (refusal != errno.EIO)


HOLDS = """
import sys
from pathlib import Path
from vault_indexer.system import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    import fcntl

    def is_free() -> bool:
        handle = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
        return True

    with only_writer(tmp_path):
        assert not is_free()
    assert is_free()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        assert not is_free()
        other.stdin.close()
    assert is_free()


def test_a_log_is_appended_to_and_made_where_there_is_none(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        handle = open_to_append(tmp_path / "log")
        os.write(handle, text)
        os.close(handle)
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"
    assert mode_of(tmp_path / "log") == 0o600
    os.close(open_to_append(tmp_path / "shared", 0o640))
    assert mode_of(tmp_path / "shared") == 0o640


def test_neither_a_link_nor_a_pipe_is_appended_to_or_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        for name in ("link", "pipe"):
            with pytest.raises(OSError, match=f"not a regular file.*{name}|symbolic links.*{name}"):
                open_to_append(tmp_path / name)
            with pytest.raises(OSError, match=f"not a regular file.*{name}|symbolic links.*{name}"):
                read_own(tmp_path / name)
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        (0o600, ""),
        (0o644, ""),
        (0o755, ""),
        (0o620, "other users may write it (mode 620)"),
        (0o602, "other users may write it (mode 602)"),
        (0o666, "other users may write it (mode 666)"),
    ],
)
def test_a_file_that_others_may_write_is_not_believed(tmp_path: Path, mode: int, fault: str) -> None:
    file = tmp_path / "own"
    file.write_bytes(b"x")
    file.chmod(mode)
    assert write_fault(file) == fault
    assert owner_fault(file) == ""
    if fault:
        with pytest.raises(PermissionError, match="other users may write it"):
            read_own(file)
    else:
        assert read_own(file) == b"x"
    with file.open("rb") as opened:
        assert write_fault(opened.fileno()) == fault
        assert owner_fault(opened.fileno()) == ""


def test_of_a_file_that_is_missing_nothing_is_said(tmp_path: Path) -> None:
    assert (owner_fault(tmp_path / "none"), write_fault(tmp_path / "none")) == ("", "")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "theirs"
    file.write_bytes(b"x")
    os.chown(file, 12_345, -1)
    assert owner_fault(file) == "it belongs to the user with the number 12345"
    with pytest.raises(PermissionError, match="it belongs to the user with the number 12345"):
        read_own(file)
