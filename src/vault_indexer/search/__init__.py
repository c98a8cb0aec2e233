"""From a query to ranked hits: parse, filter, retrieve by meaning, word and link, fuse, present, explain."""

from __future__ import annotations

from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.reader import OpenIndex
from vault_indexer.search.searcher import Searcher
from vault_indexer.search.warm_up import warm_beside

__all__ = ["OpenIndex", "QueryDeadline", "Searcher", "warm_beside"]
