"""Search: from a query to ranked hits, by meaning, by word and by link, with the reasons."""

from __future__ import annotations

from vault_indexer.search.confidence import pair_contents
from vault_indexer.search.deadline import QueryDeadline, never
from vault_indexer.search.list_notes import complete_query, list_notes
from vault_indexer.search.multi_vault import SearchResult, search_vaults
from vault_indexer.search.prepare import SearchedVault, prepare_query
from vault_indexer.search.present import Snippets, estimated_tokens, function_words
from vault_indexer.search.question import (
    QuestionWord,
    question_as_query,
    question_words,
    share_held,
    unknown_words,
)
from vault_indexer.search.rank import depth_of
from vault_indexer.search.ready import (
    FoundPassages,
    ReadyVault,
    ReadyVaults,
    RepeatedQuery,
    load_words_in_background,
    warm_in_background,
)
from vault_indexer.search.searcher import IndexReader, Searcher
from vault_indexer.search.terms import irregular_forms, is_common_word
from vault_indexer.search.vault_contents import list_tasks, vault_health, vault_overview

__all__ = [
    "FoundPassages",
    "IndexReader",
    "QueryDeadline",
    "QuestionWord",
    "ReadyVault",
    "ReadyVaults",
    "RepeatedQuery",
    "SearchResult",
    "SearchedVault",
    "Searcher",
    "Snippets",
    "complete_query",
    "depth_of",
    "estimated_tokens",
    "function_words",
    "irregular_forms",
    "is_common_word",
    "list_notes",
    "list_tasks",
    "load_words_in_background",
    "never",
    "pair_contents",
    "prepare_query",
    "question_as_query",
    "question_words",
    "search_vaults",
    "share_held",
    "unknown_words",
    "vault_health",
    "vault_overview",
    "warm_in_background",
]
