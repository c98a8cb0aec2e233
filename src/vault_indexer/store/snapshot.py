"""One immutable state of a whole index, and the holder that publishes the next one."""

from __future__ import annotations

import json
import struct
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vault_indexer.arrays import Matrix
from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.catalog import CatalogReader, CountedLanguages
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordSnapshot, Vocabulary
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.system import record

_HEADER = struct.Struct("<II")


@dataclass(frozen=True)
class VaultStatistics:
    """The number of chunks, the notes in each language, the words with their document frequencies, and the
    vectors of a sample of chunks (shape (n, dimension)), which show how near to a query chunks are by
    chance."""

    documents: int
    notes_by_language: Mapping[str, int]
    vocabulary: Vocabulary
    background: Matrix

    @cached_property
    def languages(self) -> CountedLanguages:
        return CountedLanguages({name: count for name, count in self.notes_by_language.items() if name}, 0)

    def to_bytes(self, vault: str) -> bytes:
        """Serialises the statistics for `from_bytes`. The bytes differ for each vault, so that removing those
        of one vault never removes those of another with the same notes."""
        known = {
            "vault": vault,
            "documents": self.documents,
            "languages": dict(self.notes_by_language),
            "dimension": self.background.shape[1],
        }
        head, words = json.dumps(known).encode(), self.vocabulary.to_bytes()
        vectors = self.background.astype(np.float16).tobytes()
        return _HEADER.pack(len(head), len(words)) + head + words + vectors

    @classmethod
    def from_bytes(cls, data: bytes) -> VaultStatistics:
        """Raises ValueError for bytes that `to_bytes` did not produce."""
        try:
            head_size, words_size = _HEADER.unpack_from(data)
            at = _HEADER.size + head_size
            known = json.loads(data[_HEADER.size : at])
            vectors = np.frombuffer(data[at + words_size :], np.float16).astype(np.float32)
            # Without vectors the dimension is 0, by which no array can be divided into rows.
            return cls(
                int(known["documents"]),
                {str(name): int(count) for name, count in known["languages"].items()},
                Vocabulary.from_bytes(data[at : at + words_size]),
                vectors.reshape(-1, max(1, int(known["dimension"]))),
            )
        except (ValueError, struct.error, zlib.error, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"statistics of a vault cannot be read: {error}") from error


@record
class Snapshot:
    """Catalog, graph, vectors and keywords of one generation at one seq, for readers.

    An `IndexWriter` makes one after each commit and publishes it through a `SnapshotHolder`. No later edit
    changes it; any thread may read it during a lease. `languages` lists those of the notes, most frequent
    first. `missing_vectors` counts the chunks that still lack a vector. `statistics` describes the whole
    vault if the snapshot contains only some of its notes (None: it contains all of them).
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
        """The number of the last commit that this snapshot includes."""
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
                raise IndexUnusableError("the index is not open")
            # By identity: the comparison of two snapshots would compare all their vectors.
            self._readers[id(snapshot)] = self._readers.get(id(snapshot), 0) + 1
        try:
            yield snapshot
        finally:
            with self._lock:
                self._readers[id(snapshot)] -= 1
                self._close_unread(snapshot)

    def publish(self, snapshot: Snapshot | None) -> None:
        """Makes a snapshot the current one (None: there is no longer a current one)."""
        with self._lock:
            old, self._current = self._current, snapshot
            if old is not None and old is not snapshot:
                self._close_unread(old)

    def _close_unread(self, snapshot: Snapshot) -> None:
        if self._readers.get(id(snapshot), 0) == 0:
            self._readers.pop(id(snapshot), None)
            if snapshot is not self._current:
                snapshot.catalog.close()
