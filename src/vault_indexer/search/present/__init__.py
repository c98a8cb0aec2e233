"""How an answer shows a ranked chunk: its hit, with snippet, marks and the passage around it."""

from __future__ import annotations

from vault_indexer.search.present.function_words import function_words
from vault_indexer.search.present.hits import HitBuilder, RankedChunk, obsidian_uri
from vault_indexer.search.present.passage import ExpandMode, Expansion
from vault_indexer.search.present.snippet import Snippets

__all__ = [
    "ExpandMode",
    "Expansion",
    "HitBuilder",
    "RankedChunk",
    "Snippets",
    "function_words",
    "obsidian_uri",
]
