"""Reads notes again that were set aside: something else may have ended their worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.index.writer import IndexWriter

log = logging.getLogger("vault_indexer.daemon")

_FIRST_S = 60.0
_LATEST_S = 3600.0


@dataclass(slots=True)
class _Wait:
    """`seconds` is the wait that ends at `until`; the next is twice as long."""

    until: float
    seconds: float


class SetAsideRetry:
    """Implements BackgroundTask: reads one note at a time in the generation's spare process, so that no edit
    waits for a note that ends it again or takes its whole budget. A note that was read is then indexed like
    an edit.

    The wait for a note begins with a minute and doubles up to an hour. A note whose file changes is read at
    once, as any other.
    """

    trouble = ""
    """The catalog names the notes that are set aside."""

    def __init__(
        self,
        vault_sync: VaultSync,
        clock: Callable[[], float] = time.monotonic,
        first_s: float = _FIRST_S,
    ) -> None:
        self._vault_sync = vault_sync
        self._clock = clock
        self._first_s = first_s
        self._waits: dict[str, _Wait] = {}
        self._known: tuple[IndexWriter, int] | None = None
        self._trial: tuple[IndexWriter, str] | None = None

    @property
    def busy(self) -> bool:
        """Whether a note is being read."""
        return self._trial is not None

    def step(self, *, idle: bool) -> None:
        """Index the note that was read, or begin one whose time has come, if the loop is `idle`. Raises
        VaultIndexerError or OSError if the index cannot be written."""
        current = self._vault_sync.current
        if self._trial is not None and (current is None or self._trial[0] is not current.writer):
            self._trial = None  # its generation is closed, and its process ended
        if current is None:
            return
        if self._trial is not None:
            self._finish(current, self._trial[1])
        elif idle:
            self._begin(current)

    def end(self) -> None:
        """Forget the note under way. Its process ends with the generation."""
        self._trial = None

    def _begin(self, current: OpenGeneration) -> None:
        self._read_catalog(current)
        path = min(self._waits, key=lambda name: self._waits[name].until, default=None)
        if path is None or self._clock() < self._waits[path].until:
            return
        wait = self._waits[path]
        wait.seconds = min(2 * wait.seconds, _LATEST_S)
        wait.until = self._clock() + wait.seconds
        current.spare.begin(PrepareJob((path,), at_once=0))
        self._trial = (current.writer, path)

    def _read_catalog(self, current: OpenGeneration) -> None:
        """The catalog says which notes are set aside; it is asked when it has changed."""
        with current.writer.holder.lease() as snapshot:
            known = (current.writer, snapshot.seq)
        if known == self._known:
            return
        self._known = known
        first = _Wait(self._clock() + self._first_s, self._first_s)
        paths = self._vault_sync.set_aside()
        self._waits = {path: self._waits.get(path) or _Wait(first.until, first.seconds) for path in paths}

    def _finish(self, current: OpenGeneration, path: str) -> None:
        done = current.spare.result()
        if done is None:
            return
        self._trial = None
        if not current.writer.owed:
            current.spare.close()
        if isinstance(done[1], list):
            log.info("%s was set aside, and is read again", path)
            self._vault_sync.rechunk(path)
