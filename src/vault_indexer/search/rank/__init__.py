"""Rankings of chunks by meaning, by word and by link, and the one ranking that fuses them."""

from __future__ import annotations

from vault_indexer.search.rank.listing import LISTED, list_by_time
from vault_indexer.search.rank.rank import Ranked, rank, relative
from vault_indexer.search.rank.reasons import reasons_of

__all__ = ["LISTED", "Ranked", "list_by_time", "rank", "reasons_of", "relative"]
