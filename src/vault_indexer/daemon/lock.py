"""Allows one writer per index. The system releases the lock of a dead process, so no lock is ever stale."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.system import write_atomically

if TYPE_CHECKING:
    from filelock import BaseFileLock

    from vault_indexer.store import Generation, IndexDir


_LOOK_EVERY_S = 1.0
_ONCE_IN_S = 3600.0
"""If an index is deleted twice within an hour, something is deleting it repeatedly."""


class IndexLock:
    """The right to write one index folder, held until `release`. A file next to it names the holder. `of` is
    the name of the folder in error messages."""

    def __init__(self, root: Path, purpose: str, of: str = "index") -> None:
        self._file = root / "lock"
        self._holder = root / "lock.holder"
        self._purpose = purpose
        self._of = of
        self._lock: BaseFileLock | None = None
        self._locked: tuple[int, int] | None = None

    def acquire(self) -> None:
        """Raises LockedError with the name of the holder, or IndexUnusableError if locking is impossible."""
        from filelock import FileLock, Timeout

        lock = FileLock(self._file, timeout=0, thread_local=False)  # one thread may lock, another release
        try:
            lock.acquire()
        except Timeout as error:
            raise LockedError(f"the {self._of} {self._file.parent} is in use by {self.holder()}") from error
        except (OSError, RuntimeError) as error:  # RuntimeError: no locks on this file system
            raise IndexUnusableError(f"cannot lock {self._file}: {error}") from error
        self._lock, self._locked = lock, self._identity()
        holder = {"pid": os.getpid(), "purpose": self._purpose}
        with contextlib.suppress(OSError):  # on a full disk the lock is valid without the holder's name
            write_atomically(self._holder, json.dumps(holder).encode())

    @property
    def is_current(self) -> bool:
        """Whether the locked file is still the one that other processes would lock. If the folder was
        deleted, it is not: another process could then create a new file and lock that."""
        return self._lock is not None and self._identity() == self._locked

    def _identity(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            found = self._file.stat()
            return found.st_dev, found.st_ino
        return None

    def holder(self) -> str:
        """The lock's holder in an error message."""
        try:
            holder = json.loads(self._holder.read_text())
            return f"process {int(holder['pid'])} ({holder['purpose']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> IndexLock:
        self.acquire()
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


class IndexFolderGuard:
    """Detects that the index folder was deleted, and recreates it once per hour at most.

    A deleted file stays open: without this check, edits would go into files without a name. The
    daemon's loop owns the guard. `clock` returns seconds.
    """

    def __init__(
        self, index_dir: IndexDir, lock: IndexLock, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._index_dir = index_dir
        self._lock = lock
        self._clock = clock
        self._looked = -_LOOK_EVERY_S
        self._lost = ""
        self._restored: float | None = None

    def loss(self, generation: Generation | None) -> str:
        """Describes the deleted file or folder ("" if there is none). `generation` is the active one.

        Checks once a second, and reports a loss only after two checks agree: a deletion that is still in
        progress would also delete a folder that was recreated too early.
        """
        now = self._clock()
        if now - self._looked < _LOOK_EVERY_S:
            return ""
        self._looked = now
        before, self._lost = self._lost, self._missing(generation)
        return self._lost if self._lost == before else ""

    def _missing(self, generation: Generation | None) -> str:
        root = self._index_dir.root
        if not _is_there(root) or not self._lock.is_current:
            return f"the index folder {root} was deleted"
        if generation is not None and not _is_there(generation.catalog):
            return f"{generation.catalog} of the index was deleted"
        return ""

    def restore(self, loss: str) -> None:
        """Recreates the folder and locks it again. The caller then builds the index. Raises
        IndexUnusableError if the folder cannot be created or was restored within the last hour, and
        LockedError if another process has locked it."""
        now = self._clock()
        if self._restored is not None and now - self._restored < _ONCE_IN_S:
            raise IndexUnusableError(
                f"{loss} a second time within {now - self._restored:.0f} s: the daemon ends; find out what "
                "deletes it, or choose another folder with --index-dir"
            )
        self._index_dir.prepare()
        if not self._lock.is_current:
            self._lock.release()
            self._lock.acquire()
        self._restored = now


def _is_there(path: Path) -> bool:
    """Returns whether the path exists. A path that cannot be checked counts as existing: the code that uses
    it reports the error."""
    try:
        path.stat()
    except OSError as error:
        return not isinstance(error, FileNotFoundError | NotADirectoryError)
    return True
