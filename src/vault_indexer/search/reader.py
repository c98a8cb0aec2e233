"""What answers searches: the snapshots of one generation, and the searcher made for its model."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.search.searcher import Searcher
from vault_indexer.store import SnapshotHolder


@dataclass(frozen=True, slots=True)
class IndexReader:
    """`model` is the key under which the catalog keeps the generation's vectors."""

    holder: SnapshotHolder
    searcher: Searcher
    model: str
