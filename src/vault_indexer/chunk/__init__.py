"""Cutting a parsed note into chunks: one protocol, one visible table of strategies."""

from vault_indexer.chunk.table import STRATEGIES, chunker_for

__all__ = ["STRATEGIES", "chunker_for"]
