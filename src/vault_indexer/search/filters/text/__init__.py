"""Conditions on what notes say: words, phrases and expressions, in whole notes or in pieces of them."""

from __future__ import annotations

from vault_indexer.search.filters.text.text_filter import TextReader

__all__ = ["TextReader"]
