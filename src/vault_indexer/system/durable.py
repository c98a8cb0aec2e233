"""Writing files so that a crash leaves the old content or the new, never a part of either."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Between tries of a rename on Windows. Who reads the small files that are replaced has them open for a
moment; a scanner for viruses reads a new file for about as long."""

if sys.platform == "win32":

    def fsync_dir(folder: Path) -> None:
        """Nothing: Windows syncs names with their files, and opens no folder."""

    def fsync_file(path: Path) -> None:
        """Make the content of an existing file durable. Windows flushes only what is open for writing."""
        _fsync(path, os.O_RDWR | os.O_BINARY)

    @contextmanager
    def only_writer(folder: Path) -> Iterator[None]:
        """Keep other processes out that ask for the same folder. Ends with the block, or with the process."""
        from filelock import FileLock

        with FileLock(folder.with_name(f"{folder.name}.lock")):
            yield

    def replace_file(source: Path, target: Path) -> None:
        """Rename a file or folder, over a file of that name if there is one. Windows refuses while somebody
        has either open: it is tried again for a second and a half. Raises OSError."""
        retrying(lambda: source.replace(target))

else:

    def fsync_dir(folder: Path) -> None:
        """Make the names in `folder` durable: a rename is only on disk when its folder is."""
        _fsync(folder, os.O_RDONLY | os.O_DIRECTORY)

    def fsync_file(path: Path) -> None:
        """Make the content of an existing file durable."""
        _fsync(path, os.O_RDONLY)

    @contextmanager
    def only_writer(folder: Path) -> Iterator[None]:
        """Keep other processes out that ask for the same folder. Ends with the block, or with the process."""
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def replace_file(source: Path, target: Path) -> None:
        """Rename a file or folder, over a file of that name if there is one. Raises OSError."""
        source.replace(target)


def _fsync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def retrying(action: Callable[[], object], sleep: Callable[[float], object] = time.sleep) -> None:
    """Try again what the system refuses for the moment, with a pause from `PAUSES_S` before each new try.
    Raises the PermissionError of the last try, any other error at once."""
    for pause in PAUSES_S:
        try:
            action()
        except PermissionError:
            sleep(pause)
        else:
            return
    action()


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write, flush, fsync, rename, fsync the folder. The temporary name is fixed per target."""
    with atomic_file(path, mode) as file:
        file.write(data)


@contextmanager
def atomic_file(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file, to be written piece by piece: it is at `path`, durably, once the block has ended. If the
    block raises, what stood there still does. The temporary name is fixed per target."""
    temporary = path.with_name(path.name + ".tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, mode)
    with os.fdopen(handle, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    replace_file(temporary, path)
    fsync_dir(path.parent)
