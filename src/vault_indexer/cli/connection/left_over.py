"""Indices that nobody searches any more, and how one is deleted."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

from vault_indexer.cli.known_vaults import KnownVault, has_index, recorded_vaults
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import IndexUnusableError, LockedError

_PARTS = (
    *("CURRENT", "generations", "llm-cache", "llm-calls", "start-hint"),
    *("daemon.*", "start.json", "open.html", "address.json"),
)
_PARTS_OF_LOCK = ("lock", "lock.holder")
"""What the program writes into an index folder. The folder `evals` is not among it: it contains grades that a
person gave, and no rebuild brings them back."""

_LOOK_EVERY_S = 0.05


def left_over_indices() -> list[KnownVault]:
    """The recorded indices whose vault was removed or is gone."""
    return [known for known in recorded_vaults() if known.is_left_over]


def delete_index(index_dir: Path, wait_s: float = 0) -> bool:
    """Delete an index, with its folder unless that contains other files; True if the folder is gone.

    A process that closes the index gets `wait_s` seconds. Raises LockedError if one uses it after that,
    IndexUnusableError for a folder that is no index or cannot be deleted.
    """
    if not has_index(index_dir) or index_dir.is_symlink():
        raise IndexUnusableError(f"{index_dir} is not an index folder: nothing was deleted")
    lock = _locked(index_dir, wait_s)
    try:
        for pattern in _PARTS:
            _delete(index_dir, pattern)
    finally:
        lock.release()
    for pattern in _PARTS_OF_LOCK:
        _delete(index_dir, pattern)
    with suppress(OSError):
        index_dir.rmdir()
    return not index_dir.exists()


def _locked(index_dir: Path, wait_s: float) -> IndexLock:
    lock, until = IndexLock(index_dir, "deletion"), time.monotonic() + wait_s
    while True:
        try:
            lock.acquire()
        except LockedError:
            if time.monotonic() > until:
                raise
            time.sleep(_LOOK_EVERY_S)
        else:
            return lock


def _delete(index_dir: Path, pattern: str) -> None:
    for entry in list(index_dir.glob(pattern)):
        try:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        except OSError as error:
            raise IndexUnusableError(f"cannot delete {error.filename}: {error.strerror}") from error
