"""One writer an index. The system releases the lock of a dead process, so none is ever stale."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vault_indexer.errors import IndexUnusableError, LockedError

if TYPE_CHECKING:
    from filelock import BaseFileLock


class IndexLock:
    """The right to write one index folder, held until `release`. Who holds it stands beside it."""

    def __init__(self, root: Path, purpose: str) -> None:
        self._file = root / "lock"
        self._holder = root / "lock.holder"
        self._purpose = purpose
        self._lock: BaseFileLock | None = None

    def acquire(self) -> None:
        """Raises LockedError naming the holder, or IndexUnusableError where no lock can be taken."""
        from filelock import FileLock, Timeout

        lock = FileLock(self._file, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise LockedError(f"the index {self._file.parent} is in use by {self.holder()}") from error
        except (OSError, RuntimeError) as error:  # RuntimeError: no locks on this file system
            raise IndexUnusableError(f"cannot lock {self._file}: {error}") from error
        self._lock = lock
        self._holder.write_text(json.dumps({"pid": os.getpid(), "purpose": self._purpose}))

    def holder(self) -> str:
        """Who holds the lock, for a message."""
        try:
            told = json.loads(self._holder.read_text())
            return f"process {int(told['pid'])} ({told['purpose']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        """Let others write."""
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
