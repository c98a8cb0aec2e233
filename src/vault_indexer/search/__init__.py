"""Search: from a query to ranked hits, by meaning, by word and by link, with the reasons."""

from __future__ import annotations

from vault_indexer.search.completion import complete_query
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.reader import IndexReader
from vault_indexer.search.searcher import Searcher
from vault_indexer.search.warm_up import warm_in_background

__all__ = ["IndexReader", "QueryDeadline", "Searcher", "complete_query", "warm_in_background"]
