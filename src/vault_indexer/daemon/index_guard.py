"""An index folder that somebody deletes while the daemon runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from vault_indexer.daemon.lock import IndexLock
from vault_indexer.errors import IndexUnusableError
from vault_indexer.store import Generation, IndexDir

_LOOK_EVERY_S = 1.0
_ONCE_IN_S = 3600.0
"""An index that is deleted twice within an hour is deleted by something that will do it again."""


class IndexFolderGuard:
    """Detects that the index folder was deleted, and recreates it once per hour at most.

    A deleted file stays open: without this check, edits would go into files that nobody can find. The
    daemon's loop owns it. `clock` gives seconds.
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
        """What was deleted ("" for nothing). `generation` is the active one.

        Looks once a second, and has to see the same twice: a folder that is being deleted now would take what
        is made in it along.
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
        """Make the folder and hold its lock again; the index is to be built. Raises IndexUnusableError where
        the folder cannot be made or was restored a short time ago, LockedError where another process has it.
        """
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
    """Whether it exists. One that cannot be checked does: its user reports what is wrong."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
