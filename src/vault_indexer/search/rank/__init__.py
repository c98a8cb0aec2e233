"""Rankings of chunks by meaning, by word and by link, and the one ranking that fuses them."""

from __future__ import annotations

from vault_indexer.search.rank.listing import LISTED, list_by_time
from vault_indexer.search.rank.rank import Ranked, rank, rank_together, relative
from vault_indexer.search.rank.reasons import reasons_of
from vault_indexer.search.rank.sources import Source, local_key, source_of

__all__ = [
    "LISTED",
    "Ranked",
    "Source",
    "list_by_time",
    "local_key",
    "rank",
    "rank_together",
    "reasons_of",
    "relative",
    "source_of",
]
