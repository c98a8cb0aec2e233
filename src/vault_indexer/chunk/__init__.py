"""Splits a parsed note into chunks: one protocol, and a table of all strategies."""

from vault_indexer.chunk.registry import STRATEGIES, chunker_for
from vault_indexer.chunk.selection import Choice, ChoosingChunker, options_for

__all__ = ["STRATEGIES", "Choice", "ChoosingChunker", "chunker_for", "options_for"]
