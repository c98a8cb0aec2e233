"""One immutable state of a whole index, and the pointer that moves from one state to the next."""

from __future__ import annotations

import threading
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
    """Catalog, graph, vectors and keywords of one generation at one seq. `languages` are those of its
    notes, most frequent first; `owed` is how many chunks are still without the vector they are to have."""

    generation: int
    catalog: CatalogReader
    graph: LinkGraph
    vectors: VectorSnapshot
    keywords: KeywordSnapshot
    languages: tuple[str, ...]
    owed: int = 0

    @property
    def seq(self) -> int:
        """The catalog's seq: what is newer in a derived index is not seen, what it lacks is said."""
        return self.catalog.seq


class SnapshotHolder:
    """Readers lease the snapshot in force; an old one is closed when its last reader is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: Snapshot | None = None
        self._readers: dict[int, int] = {}

    @contextmanager
    def lease(self) -> Iterator[Snapshot]:
        """The snapshot in force, which stays open during the block. Raises IndexUnusableError if none is."""
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
        """Put a snapshot in force (None: there is none any more)."""
        with self._lock:
            old, self._current = self._current, snapshot
            if old is not None and old is not snapshot:
                self._close_unread(old)

    def _close_unread(self, snapshot: Snapshot) -> None:
        if self._readers.get(id(snapshot), 0) == 0:
            self._readers.pop(id(snapshot), None)
            if snapshot is not self._current:
                snapshot.catalog.close()
