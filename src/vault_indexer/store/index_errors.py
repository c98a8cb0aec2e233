"""Errors of the operating system and of SQLite, met while an index is written, as errors of the index."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_indexer.errors import DiskFullError, IndexUnusableError, UnavailableError
from vault_indexer.store.catalog import SqliteError, is_full, unusable
from vault_indexer.store.generations import IndexDir
from vault_indexer.system import EDIT_BYTES, free_bytes, in_words, size_of

_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def index_errors(root: Path, needed_bytes: int | None = None) -> Iterator[None]:
    """In this block, an OSError or SQLite's error is an UnavailableError of one line that names the folder.

    `root` is the index folder; `needed_bytes` is about how much the work needs, by default what an edit does.
    A full disk is a DiskFullError, with the space there is and the space needed. The vault's own errors
    (VaultError, NoteError) and those of models pass unchanged.
    """
    try:
        yield
    except DiskFullError as error:
        if error.explained:
            raise
        raise disk_full(root, needed_bytes) from error
    except (IndexUnusableError, OSError, SqliteError) as error:
        if _met_full_disk(root, error):
            raise disk_full(root, needed_bytes) from error
        if isinstance(error, IndexUnusableError):
            raise
        raise (_unusable(root, error) if isinstance(error, OSError) else unusable(root, error)) from error


def _met_full_disk(root: Path, error: BaseException | None) -> bool:
    """Whether this error, or one that it came from, is a full disk: what is closed or cleaned up after one
    meets errors of its own, such as a database that is only half there."""
    while error is not None:
        if isinstance(error, DiskFullError) or (isinstance(error, Exception) and is_full(root, error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def disk_full(root: Path, needed_bytes: int | None = None) -> DiskFullError:
    """The error for a full disk, with the figures of this moment."""
    needed = edit_bytes(root) if needed_bytes is None else needed_bytes
    free = free_bytes(root)
    what = "the disk is full" if free < needed else "the disk, or your quota on it, is full"
    return DiskFullError(
        f"the index in {root} cannot be written: {what} ({in_words(free)} free), about "
        f"{in_words(needed)} are needed; "
        "make room, or choose another folder with --index-dir",
        explained=True,
    )


def edit_bytes(root: Path) -> int:
    """About what an edit may write at once: both derived indices again, and the catalog's log."""
    try:
        current = IndexDir(root).current()
    except IndexUnusableError:
        current = None
    if current is None:
        return EDIT_BYTES
    vectors = current.vectors.stat().st_size if current.vectors.exists() else 0
    return EDIT_BYTES + vectors + size_of(current.keywords)


def _unusable(root: Path, error: OSError) -> UnavailableError:
    reason = error.strerror or str(error) or type(error).__name__
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in _REFUSED:
        return IndexUnusableError(
            f"the index in {root} cannot be written: {reason}{where}; "
            "make it writable, or choose another folder with --index-dir"
        )
    return IndexUnusableError(f"the index in {root} cannot be used: {reason}{where}")
