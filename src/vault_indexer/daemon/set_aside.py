"""Reads notes again that were set aside: something else may have ended their worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.spare_reading import SpareReading
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.index.job import Died
from vault_indexer.index.jobs import Outcome
from vault_indexer.index.writer import IndexWriter

log = logging.getLogger("vault_indexer.daemon")

_FIRST_S = 2.0
_LATEST_S = 3600.0


@dataclass(slots=True)
class _Wait:
    """`seconds` is the wait that ends at `until`; the next is twice as long. `tried`: the note was read again
    since it was set aside. `at_fault`: it was so after another note was indexed."""

    until: float
    seconds: float
    tried: bool = False
    at_fault: bool = False


class SetAsideRetry:
    """Implements BackgroundTask: reads one note at a time in the generation's spare process, so that no edit
    waits for a note that ends it again or takes its whole budget. A note that was read is then indexed like
    an edit.

    The wait for a note begins with `first_s` seconds and doubles up to an hour; the first time that another
    note is indexed meanwhile ends it. A note whose file changes is read at once, as any other.
    """

    trouble = ""
    """The catalog names the notes that are set aside."""

    def __init__(
        self,
        vault_sync: VaultSync,
        clock: Callable[[], float] = time.monotonic,
        first_s: float = _FIRST_S,
    ) -> None:
        self.untried = 0
        """How many notes were set aside and not read again since. Any thread."""
        self._vault_sync = vault_sync
        self._clock = clock
        self._first_s = first_s
        self._waits: dict[str, _Wait] = {}
        self._known: tuple[IndexWriter, int] | None = None
        self._reading = SpareReading()

    @property
    def busy(self) -> bool:
        """Whether a note is being read."""
        return self._reading.busy

    @property
    def is_due(self) -> bool:
        """Whether there is a note to be read now."""
        return any(wait.until <= self._clock() for wait in self._waits.values())

    def step(self, *, idle: bool) -> None:
        """Index the note that was read, or begin one whose time has come, if the loop is `idle`. Raises
        VaultIndexerError or OSError if the index cannot be written."""
        current = self._vault_sync.current
        if self._reading.busy:
            done = self._reading.result(current)
            if done is not None:
                self._finish(*done)
        elif idle and current is not None:
            self._begin(current)

    def end(self) -> None:
        """Forget the note under way."""
        self._reading.end()

    def refresh(self) -> None:
        """Read from the catalog which notes are set aside, if it has changed."""
        current = self._vault_sync.current
        if current is None:
            return
        with current.writer.holder.lease() as snapshot:
            known = (current.writer, snapshot.seq)
        if known != self._known:
            self._use(self._vault_sync.set_aside(), is_first=self._known is None)
            self._known = known
        self.untried = sum(not wait.tried for wait in self._waits.values())

    def _use(self, paths: tuple[str, ...], *, is_first: bool) -> None:
        """The catalog of an earlier run says nothing new. If no note was added, another one was indexed."""
        now = self._clock()
        if self._waits.keys() >= set(paths):
            for wait in self._waits.values():
                wait.until, wait.at_fault = wait.until if wait.at_fault else now, True
        fresh = {path: _Wait(now + self._first_s, self._first_s, tried=is_first) for path in paths}
        self._waits = {path: self._waits.get(path, wait) for path, wait in fresh.items()}

    def _begin(self, current: OpenGeneration) -> None:
        self.refresh()
        path = min(self._waits, key=lambda name: self._waits[name].until, default=None)
        if path is None or self._clock() < self._waits[path].until:
            return
        wait = self._waits[path]
        wait.seconds = min(2 * wait.seconds, _LATEST_S)
        wait.until = self._clock() + wait.seconds
        self._reading.begin(current, path)

    def _finish(self, path: str, result: Outcome | Died) -> None:
        if path in self._waits:
            self._waits[path].tried = True
        if isinstance(result, list):
            log.info("%s was skipped, and is read again", path)
            self._vault_sync.reread(path)
        self.refresh()
