"""Everything on disk: the SQLite catalog, which alone is the authority, and the indices derived from it."""

from __future__ import annotations

from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.index_errors import index_errors
from vault_indexer.store.ranges import first_of_each
from vault_indexer.store.retrieval import (
    ChunkRetriever,
    FoundChunk,
    Fusion,
    PublishedChunk,
    Selection,
    VaultScope,
    in_order,
    note_of_chunk,
)
from vault_indexer.store.row_products import row_products
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder

__all__ = [
    "ChunkRetriever",
    "FoundChunk",
    "Fusion",
    "Generation",
    "IndexDir",
    "PublishedChunk",
    "Selection",
    "Snapshot",
    "SnapshotHolder",
    "VaultScope",
    "first_of_each",
    "in_order",
    "index_errors",
    "note_of_chunk",
    "row_products",
]
