"""The filters of a query: the notes and chunks that meet its conditions."""

from __future__ import annotations

from vault_indexer.search.filters.candidates import pattern_of
from vault_indexer.search.filters.chunk_filter import ChunkFilter, at_level
from vault_indexer.search.filters.evaluation import Evaluation
from vault_indexer.search.filters.path_filter import name_contains
from vault_indexer.search.filters.text_pattern import TextPattern, plain, text_pattern

__all__ = [
    "ChunkFilter",
    "Evaluation",
    "TextPattern",
    "at_level",
    "name_contains",
    "pattern_of",
    "plain",
    "text_pattern",
]
