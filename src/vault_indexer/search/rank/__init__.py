"""Rankings of chunks by meaning, by word and by link, and the one ranking that fuses them."""

from __future__ import annotations

from vault_indexer.search.rank.listing import LISTED, list_by_time
from vault_indexer.search.rank.rank import Ranked, normalized_score, rank
from vault_indexer.search.rank.reasons import reasons_of
from vault_indexer.search.rank.sources import local_key, source_of

__all__ = [
    "LISTED",
    "Ranked",
    "list_by_time",
    "local_key",
    "normalized_score",
    "rank",
    "reasons_of",
    "source_of",
]
