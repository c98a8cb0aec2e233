"""Everything on disk: the SQLite catalog, which alone is the authority, and the indices derived from it."""

from __future__ import annotations

from vault_indexer.store.generations import Generation, IndexDir
from vault_indexer.store.index_errors import index_errors
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder

__all__ = ["Generation", "IndexDir", "Snapshot", "SnapshotHolder", "index_errors"]
