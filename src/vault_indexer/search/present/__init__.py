"""Presents a ranked chunk as a hit, with its snippet, marks and the surrounding passage."""

from __future__ import annotations

from vault_indexer.search.present.hits import (
    Expansion,
    HitBuilder,
    RankedChunk,
    editor_of,
    estimated_tokens,
    file_uri,
    passage_at,
    with_display_titles,
)
from vault_indexer.search.present.snippet import Snippets
from vault_indexer.text.language import function_words

__all__ = [
    "Expansion",
    "HitBuilder",
    "RankedChunk",
    "Snippets",
    "editor_of",
    "estimated_tokens",
    "file_uri",
    "function_words",
    "passage_at",
    "with_display_titles",
]
