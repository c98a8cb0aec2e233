"""How an answer shows a ranked chunk: its hit, with snippet, marks and the passage around it."""

from __future__ import annotations

from vault_indexer.search.present.hits import HitBuilder, RankedChunk, file_uri, is_obsidian_vault
from vault_indexer.search.present.passage import ExpandMode, Expansion, estimated_tokens, passage_at
from vault_indexer.search.present.snippet import ChunkHeading, Snippets
from vault_indexer.text.function_words import function_words

__all__ = [
    "ChunkHeading",
    "ExpandMode",
    "Expansion",
    "HitBuilder",
    "RankedChunk",
    "Snippets",
    "estimated_tokens",
    "file_uri",
    "function_words",
    "is_obsidian_vault",
    "passage_at",
]
