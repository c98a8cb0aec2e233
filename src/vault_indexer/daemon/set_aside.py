"""Reads notes again that were set aside: something else may have ended their worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vault_indexer.daemon.assembly import OpenGeneration
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.daemon.upkeep import SpareWork, UpkeepTask, Work
from vault_indexer.index.job import Died, Failed
from vault_indexer.index.jobs import PrepareJob
from vault_indexer.index.writer import IndexWriter

log = logging.getLogger("vault_indexer.daemon")

_FIRST_S = 2.0
_LATEST_S = 3600.0


@dataclass(slots=True)
class _Wait:
    """`seconds` is the wait that ends at `until`; the next is twice as long. `change`: time and
    digest of what was set aside. `tried`: the note was read again since. `at_fault`: it was set aside though
    another note was indexed."""

    change: tuple[int, str]
    until: float
    seconds: float
    tried: bool = False
    at_fault: bool = False


class SetAsideRetry(UpkeepTask):
    """Reads one note at a time in the generation's spare process, so that no edit
    waits for a note that ends it again or takes its whole budget. A note that was read is then indexed like
    an edit.

    The wait for a note begins with `first_s` seconds and doubles up to an hour; the first time that another
    note is indexed meanwhile ends it. A note whose file changes is read at once, as any other.
    """

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

    def begin(self, current: OpenGeneration) -> Work | None:
        """Read a note whose time has come."""
        self.refresh()
        path = min(self._waits, key=lambda name: self._waits[name].until, default=None)
        if path is None or self._clock() < self._waits[path].until:
            return None
        wait = self._waits[path]
        wait.seconds = min(2 * wait.seconds, _LATEST_S)
        wait.until = self._clock() + wait.seconds
        return SpareWork(current, PrepareJob((path,), at_once=0))

    def accept(self, _current: OpenGeneration, job: object, outcome: object) -> None:
        """Index the note that could be read."""
        assert isinstance(job, PrepareJob)
        (path,) = job.paths
        if path in self._waits:
            self._waits[path].tried = True
        if not isinstance(outcome, Failed | Died):
            log.info("%s was skipped, and is read again", path)
            self._vault_sync.reread(path)
        self.refresh()

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

    def _use(self, changes: Mapping[str, tuple[int, str]], *, is_first: bool) -> None:
        """The catalog of an earlier run says nothing new. If no change was added, another was indexed."""
        now = self._clock()
        known = {path: wait for path, wait in self._waits.items() if changes.get(path) == wait.change}
        if len(known) == len(changes):
            for wait in known.values():
                wait.until, wait.at_fault = wait.until if wait.at_fault else now, True
        self._waits = {
            path: known.get(path) or _Wait(change, now + self._first_s, self._first_s, tried=is_first)
            for path, change in changes.items()
        }
