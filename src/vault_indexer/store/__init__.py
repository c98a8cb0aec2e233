"""Everything on disk: the SQLite catalog, which alone is the authority, and the indices derived from it."""

from __future__ import annotations

from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.index_errors import index_errors
from vault_indexer.store.ranges import first_of_each
from vault_indexer.store.row_products import row_products
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder
from vault_indexer.store.vault_statistics import VaultStatistics

__all__ = [
    "Generation",
    "IndexDir",
    "Snapshot",
    "SnapshotHolder",
    "VaultStatistics",
    "first_of_each",
    "index_errors",
    "row_products",
]
