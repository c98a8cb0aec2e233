"""Rankings of chunks by meaning, by word and by link, and the one ranking fused from them."""

from __future__ import annotations

from vault_indexer.search.rank.listing import LISTED, list_by_time
from vault_indexer.search.rank.rank import Ranked, rank, relative
from vault_indexer.search.rank.retrieve import keyword_reasons

__all__ = ["LISTED", "Ranked", "keyword_reasons", "list_by_time", "rank", "relative"]
