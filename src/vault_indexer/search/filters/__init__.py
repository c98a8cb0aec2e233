"""The filters of a query: which notes and chunks its conditions leave."""

from __future__ import annotations

from vault_indexer.search.filters.chunk_filter import ChunkFilter
from vault_indexer.search.filters.evaluation import Evaluation
from vault_indexer.search.filters.text_pattern import plain, text_pattern

__all__ = ["ChunkFilter", "Evaluation", "plain", "text_pattern"]
