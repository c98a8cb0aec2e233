"""The vector index: an immutable FAISS base and a small exact delta. Only this package uses FAISS."""

from __future__ import annotations

from vault_indexer.store.vectors.index import VectorSnapshot, build_snapshot
from vault_indexer.store.vectors.prefilter import SAMPLED, spread_evenly

__all__ = ["SAMPLED", "VectorSnapshot", "build_snapshot", "spread_evenly"]
