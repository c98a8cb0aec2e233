"""One writer an index. The system releases the lock of a dead process, so none is ever stale."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vault_indexer.errors import IndexUnusableError, LockedError
from vault_indexer.system import write_atomically

if TYPE_CHECKING:
    from filelock import BaseFileLock


class IndexLock:
    """The right to write one index folder, held until `release`. A file next to it names the holder."""

    def __init__(self, root: Path, purpose: str) -> None:
        self._file = root / "lock"
        self._holder = root / "lock.holder"
        self._purpose = purpose
        self._lock: BaseFileLock | None = None
        self._locked: tuple[int, int] | None = None

    def acquire(self) -> None:
        """Raises LockedError naming the holder, or IndexUnusableError where no lock can be taken."""
        from filelock import FileLock, Timeout

        lock = FileLock(self._file, timeout=0, thread_local=False)  # one thread may lock, another release
        try:
            lock.acquire()
        except Timeout as error:
            raise LockedError(f"the index {self._file.parent} is in use by {self.holder()}") from error
        except (OSError, RuntimeError) as error:  # RuntimeError: no locks on this file system
            raise IndexUnusableError(f"cannot lock {self._file}: {error}") from error
        self._lock, self._locked = lock, self._identity()
        with contextlib.suppress(OSError):  # on a full disk the lock counts all the same, without a name
            write_atomically(
                self._holder, json.dumps({"pid": os.getpid(), "purpose": self._purpose}).encode()
            )

    @property
    def is_current(self) -> bool:
        """Whether the file that is locked is still the one that others would lock. It is not where the folder
        was deleted: another process that makes a new file would then get a second lock."""
        return self._lock is not None and self._identity() == self._locked

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def holder(self) -> str:
        """Who holds the lock, for a message."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
