"""Cutting a parsed note into chunks: one protocol, one visible table of strategies."""

from vault_indexer.chunk.registry import STRATEGIES, chunker_for
from vault_indexer.chunk.selection import Choice, Chooser, ChoosingChunker, options_for

__all__ = ["STRATEGIES", "Choice", "Chooser", "ChoosingChunker", "chunker_for", "options_for"]
