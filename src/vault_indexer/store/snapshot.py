"""One immutable state of a whole index, and the holder that publishes the next one."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordSnapshot
from vault_indexer.store.vectors import VectorSnapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Catalog, graph, vectors and keywords of one generation at one seq, for readers.

    An `IndexWriter` makes one after each commit and publishes it through a `SnapshotHolder`. No later edit
    changes it; any thread may read it while it holds a lease. `languages` are those of the notes, most
    frequent first. `owed` counts the chunks that still lack their vector.
    """

    generation: int
    catalog: CatalogReader
    graph: LinkGraph
    vectors: VectorSnapshot
    keywords: KeywordSnapshot
    languages: tuple[str, ...]
    owed: int = 0

    @property
    def seq(self) -> int:
        """The number of the last commit that the catalog of this snapshot holds."""
        return self.catalog.seq


class SnapshotHolder:
    """Lends the current snapshot to readers, and closes an old one after its last reader.

    Each open generation has one holder. The writer calls `publish`; any thread may call `lease`. A lease
    keeps its snapshot open until the block ends, even if another snapshot is published meanwhile. Publishing
    never waits for readers. Work that would slow readers down leases with `lease_in_background`, and waits
    with `wait_for_quiet` until they rest.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition(threading.Lock())
        self._reading = 0
        self._read_at = -math.inf
        self._current: Snapshot | None = None
        self._readers: dict[int, int] = {}

    @contextmanager
    def lease(self) -> Iterator[Snapshot]:
        """The current snapshot, open during the block. Raises IndexUnusableError if there is none."""
        with self._lock:
            self._reading += 1
        try:
            with self.lease_in_background() as snapshot:
                yield snapshot
        finally:
            with self._lock:
                self._reading -= 1
                self._read_at = time.monotonic()
                self._lock.notify_all()

    def wait_for_quiet(self, quiet_s: float, limit_s: float) -> bool:
        """Wait until nobody has had a `lease` for `quiet_s` seconds. False if that is not so by `limit_s`."""
        end = time.monotonic() + limit_s
        with self._lock:
            while True:
                now = time.monotonic()
                due = math.inf if self._reading else self._read_at + quiet_s
                if due <= now or end <= now:
                    return due <= now
                self._lock.wait(min(due, end) - now)

    @contextmanager
    def lease_in_background(self) -> Iterator[Snapshot]:
        """As `lease`, for what does not count as reading."""
        with self._lock:
            snapshot = self._current
            if snapshot is None:
                raise IndexUnusableError("the index is not open yet")
            self._readers[id(snapshot)] = self._readers.get(id(snapshot), 0) + 1
        try:
            yield snapshot
        finally:
            with self._lock:
                self._readers[id(snapshot)] -= 1
                self._close_unread(snapshot)

    def publish(self, snapshot: Snapshot | None) -> None:
        """Make a snapshot the current one (None: there is none any more)."""
        with self._lock:
            old, self._current = self._current, snapshot
            if old is not None and old is not snapshot:
                self._close_unread(old)

    def _close_unread(self, snapshot: Snapshot) -> None:
        if self._readers.get(id(snapshot), 0) == 0:
            self._readers.pop(id(snapshot), None)
            if snapshot is not self._current:
                snapshot.catalog.close()
