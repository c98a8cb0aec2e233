"""Splits a parsed note into chunks: one protocol, and a table of all strategies."""

from vault_indexer.chunk.note_document import PROPERTIES, chunks_of
from vault_indexer.chunk.registry import STRATEGIES, chunker_for
from vault_indexer.chunk.selection import Choice, ChoosingChunker, options_for

__all__ = [
    "PROPERTIES",
    "STRATEGIES",
    "Choice",
    "ChoosingChunker",
    "chunker_for",
    "chunks_of",
    "options_for",
]
