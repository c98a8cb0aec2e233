"""Everything on disk: the SQLite catalog, which is the only authority, and the indices derived from it."""

from __future__ import annotations

from vault_indexer.store.generations import Generation, IndexDir, index_errors
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder, VaultStatistics

__all__ = ["Generation", "IndexDir", "Snapshot", "SnapshotHolder", "VaultStatistics", "index_errors"]
