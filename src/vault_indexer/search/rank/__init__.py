"""Ranks chunks by meaning, by word and by link, and fuses the three rankings into one."""

from __future__ import annotations

from vault_indexer.search.rank.candidates import Candidates
from vault_indexer.search.rank.rank import LISTED, RepeatedRank, depth_of, list_by_time, rank
from vault_indexer.search.rank.rerank import reasons_of
from vault_indexer.search.rank.retrieve import Copies, find_copies, match_titles

__all__ = [
    "LISTED",
    "Candidates",
    "Copies",
    "RepeatedRank",
    "depth_of",
    "find_copies",
    "list_by_time",
    "match_titles",
    "rank",
    "reasons_of",
]
