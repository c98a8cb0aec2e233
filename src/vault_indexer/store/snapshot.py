"""One immutable state of a whole index, and the holder that publishes the next one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordSnapshot
from vault_indexer.store.vault_statistics import VaultStatistics
from vault_indexer.store.vectors import VectorSnapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Catalog, graph, vectors and keywords of one generation at one seq, for readers.

    An `IndexWriter` makes one after each commit and publishes it through a `SnapshotHolder`. No later edit
    changes it; any thread may read it while it holds a lease. `languages` are those of the notes, most
    frequent first. `missing_vectors` counts the chunks that still lack their vector. `statistics` are those
    of a vault of which the snapshot holds some notes alone (None: it holds all of them).
    """

    generation: int
    catalog: CatalogReader
    graph: LinkGraph
    vectors: VectorSnapshot
    keywords: KeywordSnapshot
    languages: tuple[str, ...]
    missing_vectors: int = 0
    statistics: VaultStatistics | None = None

    @property
    def seq(self) -> int:
        """The number of the last commit that the catalog of this snapshot holds."""
        return self.catalog.seq


class SnapshotHolder:
    """Lends the current snapshot to readers, and closes an old one after its last reader.

    Each open generation has one holder. The writer calls `publish`; any thread may call `lease`. A lease
    keeps its snapshot open until the block ends, even if another snapshot is published meanwhile. Publishing
    never waits for readers.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: Snapshot | None = None
        self._readers: dict[int, int] = {}

    @contextmanager
    def lease(self) -> Iterator[Snapshot]:
        """The current snapshot, open during the block. Raises IndexUnusableError if there is none."""
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
