"""The snapshots of one generation, with the searcher for its model."""

from __future__ import annotations

from dataclasses import dataclass

from vault_indexer.search.searcher import Searcher
from vault_indexer.store import SnapshotHolder


@dataclass(frozen=True, slots=True)
class IndexReader:
    """What a search of one generation needs; `model` is the catalog's key for the generation's vectors."""

    holder: SnapshotHolder
    searcher: Searcher
    model: str
