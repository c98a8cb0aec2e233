"""The vector index: an immutable FAISS base and a small exact delta. Only here is FAISS known."""

from __future__ import annotations

from vault_indexer.store.vectors.index import VectorSnapshot

__all__ = ["VectorSnapshot"]
