"""Everything on disk: the SQLite catalog, which alone is the authority, and the indices derived from it."""

from __future__ import annotations

from vault_indexer.store.chosen_notes import snapshot_of_notes
from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.index_errors import index_errors
from vault_indexer.store.published_note import PublishedNote, ReceivedNote, pack_note, terms_of, unpack_note
from vault_indexer.store.ranges import first_of_each
from vault_indexer.store.retrieval import MAX_LIMIT, ChunkRetriever, FoundChunk, Selection, VaultScope
from vault_indexer.store.row_products import row_products
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder
from vault_indexer.store.vault_statistics import VaultStatistics

__all__ = [
    "MAX_LIMIT",
    "ChunkRetriever",
    "FoundChunk",
    "Generation",
    "IndexDir",
    "PublishedNote",
    "ReceivedNote",
    "Selection",
    "Snapshot",
    "SnapshotHolder",
    "VaultScope",
    "VaultStatistics",
    "first_of_each",
    "index_errors",
    "pack_note",
    "row_products",
    "snapshot_of_notes",
    "terms_of",
    "unpack_note",
]
