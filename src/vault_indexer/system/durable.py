"""Writes files so that a crash leaves either the old or the new content, never a part of them."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""The pauses between tries of a rename on Windows. Readers of the small files that are replaced have them
open for a moment, and a virus scanner reads a new file for about as long."""

_LEFTOVER_S = 3600.0
_STEM_BYTES = 200
"""The number of bytes of a name that its temporary file repeats, to stay within the limits of file
systems."""

_BINARY, _NOFOLLOW, _NONBLOCK = (getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY
_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOFOLLOW | _NONBLOCK | _BINARY
"""The flags to open a file for appending. O_NONBLOCK: opening a named pipe does not wait."""

_NO_FULL_SYNC = {errno.ENOTSUP, errno.EINVAL, errno.ENOTTY}
"""How file systems that lack F_FULLFSYNC, such as network shares, refuse it."""

if sys.platform == "win32":
    _sync = os.fsync

    def fsync_dir(folder: Path) -> None:
        """Does nothing: Windows syncs names with their files, and cannot open a folder."""

    def fsync_file(path: Path) -> None:
        """Makes the content of an existing file durable. Windows flushes only files open for writing."""
        _fsync(path, os.O_RDWR | os.O_BINARY)

    @contextmanager
    def only_writer(folder: Path) -> Iterator[None]:
        """Excludes other processes that request the same folder. Ends with the block, or with the process."""
        from filelock import FileLock

        with FileLock(folder.with_name(f"{folder.name}.lock")):
            yield

    def replace_file(source: Path, target: Path) -> None:
        """Renames a file or folder, and replaces an existing file. Windows refuses while a process has either
        open, so it is retried for a second and a half. Raises OSError."""
        retrying(lambda: source.replace(target))

    @contextmanager
    def _opened_folder(_path: Path) -> Iterator[int | None]:
        """Yields None: Windows cannot open a folder."""
        yield None

    def _rename(source: str, target: str, _folder: int | None) -> None:
        replace_file(Path(source), Path(target))

else:
    import fcntl

    def _sync(handle: int) -> None:
        """Makes the written data durable. The fsync of macOS leaves it in the cache of the drive, which only
        F_FULLFSYNC empties; no other system has that."""
        if command := getattr(fcntl, "F_FULLFSYNC", None):
            try:
                fcntl.fcntl(handle, command)
            except OSError as error:
                if error.errno not in _NO_FULL_SYNC:
                    raise
            else:
                return
        os.fsync(handle)

    def fsync_dir(folder: Path) -> None:
        """Makes the names in `folder` durable: a rename is on disk only after its folder is synced."""
        _fsync(folder, os.O_RDONLY | os.O_DIRECTORY)

    def fsync_file(path: Path) -> None:
        """Makes the content of an existing file durable."""
        _fsync(path, os.O_RDONLY)

    @contextmanager
    def only_writer(folder: Path) -> Iterator[None]:
        """Excludes other processes that request the same folder. Ends with the block, or with the process."""
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def replace_file(source: Path, target: Path) -> None:
        """Renames a file or folder, and replaces an existing file. Raises OSError."""
        source.replace(target)

    @contextmanager
    def _opened_folder(path: Path) -> Iterator[int | None]:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield handle
        finally:
            os.close(handle)

    def _rename(source: str, target: str, folder: int | None) -> None:
        os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)


def _fsync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        _sync(handle)
    finally:
        os.close(handle)


def remove_unused(path: Path) -> bool:
    """Removes a file, if it exists. Returns whether it is gone: Windows refuses while a process reads it.
    Raises OSError."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        if sys.platform == "win32":
            return False
        raise
    return True


def retrying(action: Callable[[], object], sleep: Callable[[float], object] = time.sleep) -> None:
    """Retries an action that the system refuses temporarily, with a pause from `PAUSES_S` before each new
    try. Raises the PermissionError of the last try, and any other error at once."""
    for pause in PAUSES_S:
        try:
            action()
        except PermissionError:
            sleep(pause)
        else:
            return
    action()


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Writes, flushes, fsyncs, renames, fsyncs the folder: `atomic_file` in one call."""
    with atomic_file(path, mode) as file:
        file.write(data)


@contextmanager
def atomic_file(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Opens a new file that can be written in pieces. It is durably at `path` once the block has ended. If
    the block raises, the old file stays.

    The folder may be a stranger's vault: the temporary file has a random name and is new, so no link is
    followed, and all happens in the folder that was opened first. A link at `path` is replaced, not its
    target. A file that a crash leaves is removed by the next write of this file after an hour.
    """
    stem = temporary_prefix(path)
    with _opened_folder(path.parent) as folder:
        _remove_leftovers(path.parent, folder, stem)
        temporary = _named(path.parent, folder, f"{stem}{os.urandom(8).hex()}.tmp")
        handle = os.open(temporary, _NEW, mode, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                _sync(file.fileno())
            _rename(temporary, _named(path.parent, folder, path.name), folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        if folder is not None:
            _sync(folder)


def temporary_prefix(path: Path) -> str:
    """Returns the prefix of the names of temporary files that `atomic_file` creates next to `path`."""
    return f".{os.fsencode(path.name)[:_STEM_BYTES].decode(errors='ignore')}."


def _remove_leftovers(path: Path, folder: int | None, stem: str) -> None:
    """Removes the temporary files of a process that was killed. Newer files may belong to another writer."""
    until = time.time() - _LEFTOVER_S
    with os.scandir(path if folder is None else folder) as entries:
        for entry in entries:
            if entry.name.startswith(stem) and entry.name.endswith(".tmp"):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < until:
                        os.unlink(_named(path, folder, entry.name), dir_fd=folder)


def _named(path: Path, folder: int | None, name: str) -> str:
    """Returns the argument for a system call: the name in an open folder, otherwise the path."""
    return str(path / name) if folder is None else name


def open_to_append(path: Path, mode: int = 0o600) -> int:
    """Returns a descriptor that appends to a regular file, which is created if necessary. Raises OSError for
    a link and for anything else that is not a regular file: it may be in an untrusted vault."""
    handle = os.open(path, _APPENDING, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return handle
