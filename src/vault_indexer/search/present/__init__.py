"""A ranked chunk as an answer shows it: snippet, marks, passage around it."""

from __future__ import annotations

from vault_indexer.search.present.hits import hit_of, obsidian_uri
from vault_indexer.search.present.passage import ExpandMode, Expansion, passage_of
from vault_indexer.search.present.snippet import Snippets

__all__ = ["ExpandMode", "Expansion", "Snippets", "hit_of", "obsidian_uri", "passage_of"]
