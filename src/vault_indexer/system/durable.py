"""Writing files so that a crash leaves the old content or the new, never a part of either."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def fsync_dir(folder: Path) -> None:
    """Make the names in `folder` durable: a rename is only on disk when its folder is."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fsync_file(path: Path) -> None:
    """Make the content of an existing file durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep other processes out that ask for the same folder. Ends with the block, or with the process."""
    import fcntl  # not on every system that can read an index

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write, flush, fsync, rename, fsync the folder. The temporary name is fixed per target."""
    with atomic_file(path, mode) as file:
        file.write(data)


@contextmanager
def atomic_file(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file, to be written piece by piece: it is at `path`, durably, once the block has ended. If the
    block raises, what stood there still does. The temporary name is fixed per target."""
    temporary = path.with_name(path.name + ".tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    fsync_dir(path.parent)
