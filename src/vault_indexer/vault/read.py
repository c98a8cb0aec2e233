"""Reads one file of the vault, consistently and only if it is inside the vault."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from vault_indexer.errors import NoteError
from vault_indexer.model import UNREADABLE, FileRow, document_kind_of
from vault_indexer.system import icloud_placeholder, long_path, name_fault, real_path, record
from vault_indexer.vault.diff import KnownFile
from vault_indexer.vault.files import NOT_DOWNLOADED, FileStat, is_evicted, is_regular

_TRIES = 4
_NOT_HERE = UNREADABLE + NOT_DOWNLOADED
# Absent on Windows: O_NOFOLLOW (the last name must not have become a link since it was resolved),
# O_NONBLOCK (a pipe put in the file's place must not block us).
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


class NoteVanished(NoteError):  # noqa: N818 - it says what happened; nothing is wrong with it
    """The file does not exist (any more)."""


@record
class ReadResult:
    """The bytes of a file that did not change while they were read. `sha256` is in hexadecimal."""

    data: bytes
    stat: FileStat
    sha256: str


def resolve_in_vault(vault: Path, path: str) -> Path:
    """Returns the real location of an untrusted vault path. Symbolic links are followed only in the vault.

    Raises NoteError for a path that is empty or absolute, contains NUL, a drive or `..`, leads out of the
    vault, or names no file on this system (a device of Windows, a part of a file). NoteVanished is left to
    the caller that opens the file.
    """
    parts = path.split("/")
    if not path or "\0" in path or path.startswith("/") or ".." in parts or Path(path).drive:
        raise NoteError(f"not a path in the vault: {path[:200]!r}")
    if fault := next(filter(None, map(name_fault, parts)), ""):
        raise NoteError(f"not a path in the vault: {path[:200]!r}: {fault}")
    root = real_path(str(vault))
    try:
        real = real_path(f"{root}/{path}")
    except (OSError, ValueError) as error:
        raise NoteError(f"cannot be resolved: {path[:200]!r}: {error}") from error
    # With the separator, because `/notes-old` is not in `/notes`. The root `/` has it already.
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise NoteError("leads out of the vault through a symbolic link")
    return Path(real)


def resolved_path(vault: Path, path: str) -> str:
    """Returns the vault path of the target of an untrusted vault path. Raises as `resolve_in_vault` does."""
    return resolve_in_vault(vault, path).relative_to(real_path(str(vault))).as_posix()


def read_note(vault: Path, path: str, max_file_bytes: int) -> ReadResult:
    """Reads a consistent state of a vault file.

    The stats before and after the read must agree; otherwise the file is read again, a few times. Raises
    NoteVanished if it does not exist, and NoteError if it is too large, not a regular file or outside the
    vault, or, with a reason that begins with `UNREADABLE`, if it cannot be read now, is not downloaded or
    keeps changing.
    """
    real = resolve_in_vault(vault, path)
    try:
        for _ in range(_TRIES):
            result = _read_once(real, path, max_file_bytes)
            if result is not None:
                return result
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(str(real)) from error
    except OSError as error:
        raise NoteError(f"unreadable: {error.strerror or error}") from error
    raise NoteError("unreadable: it keeps changing while it is read")


def _read_once(real: Path, path: str, max_file_bytes: int) -> ReadResult | None:
    """Reads the file once. Returns None if it changed during the read."""
    place = long_path(str(real))
    size = _size_of_plain_file(place)
    if size > max_file_bytes:
        raise NoteError(too_large(path, size, max_file_bytes))
    descriptor = os.open(place, _OPEN_FLAGS)
    try:
        # By the descriptor: the name may lead to another file by now.
        before = FileStat.of(path, os.fstat(descriptor))
        data = _read_all(descriptor, before.size)
    finally:
        os.close(descriptor)
    # By the name: a save by rename leaves the open file unchanged.
    after = FileStat.of(path, os.lstat(place))
    if before != after or len(data) != after.size or before.size > max_file_bytes:
        return None
    return ReadResult(data, after, hashlib.sha256(data).hexdigest())


def open_file(vault: Path, path: str) -> BinaryIO:
    """Opens a vault file, to read parts of it. Raises as `read_note` does, for a file of any size."""
    place = long_path(str(resolve_in_vault(vault, path)))
    try:
        _size_of_plain_file(place)
        opened = os.fdopen(os.open(place, _OPEN_FLAGS), "rb")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(place) from error
    except OSError as error:
        raise NoteError(f"unreadable: {error.strerror or error}") from error
    if not is_regular(os.fstat(opened.fileno())):  # replaced since
        opened.close()
        raise NoteError("not a plain file")
    return opened


def _missing(place: str) -> NoteError:
    """Returns the error for a file that is not there: a placeholder of iCloud may be."""
    return NoteError(_NOT_HERE) if os.path.lexists(icloud_placeholder(place)) else NoteVanished("vanished")


def _size_of_plain_file(place: str) -> int:
    """Returns the size of a file that can be read without blocking or a download."""
    checked = os.lstat(place)
    if not is_regular(checked):
        raise NoteError("not a plain file")
    if is_evicted(checked):
        raise NoteError(_NOT_HERE)
    return checked.st_size


def _read_all(descriptor: int, size: int) -> bytes:
    """Reads up to one byte more than `size`, which is enough to detect that the file has grown. A read with
    the limit as size would allocate megabytes for every note."""
    pieces: list[bytes] = []
    missing = size + 1
    while missing > 0 and (piece := os.read(descriptor, missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def too_large(path: str, size: int, limit: int) -> str:
    """Returns the reason that is shown for a file over the limit (bytes)."""
    table = "documents" if document_kind_of(path) else "files"
    return f"too large: {size:,} bytes, the limit ({table}.max_file_bytes) is {limit:,}"


def unchanged_files(vault: Path, known: Iterable[FileRow]) -> set[str]:
    """Returns the paths of the known files that have not changed (see `is_unchanged`)."""
    return {row.path for row in known if is_unchanged(vault, row, row.digest)}


def is_unchanged(vault: Path, known: KnownFile, digest: str) -> bool:
    """Returns whether a file is unchanged since `known`, by its stat. If only its metadata has changed, as by
    `chmod`, the `digest` of its content decides ("": unknown). A file without a stat has changed."""
    try:
        status = os.stat(long_path(str(vault / known.path)))  # noqa: PTH116 - whatever it leads to now: another file has another inode
    except (OSError, ValueError):
        return False
    found = (status.st_size, status.st_mtime_ns, status.st_ino)
    if found != (known.size, known.mtime_ns, known.inode):
        return False
    if status.st_ctime_ns == known.ctime_ns or not digest:
        return True
    try:
        return read_note(vault, known.path, known.size).sha256 == digest
    except NoteError:  # made unreadable: nothing says that its content is another
        return True
