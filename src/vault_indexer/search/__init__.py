"""Search: from a query to ranked hits, by meaning, by word and by link, with the reasons."""

from __future__ import annotations

from vault_indexer.search.completion import complete_query
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.present import (
    ReadableText,
    code_blocks,
    estimated_tokens,
    function_words,
    open_fence,
    readable,
)
from vault_indexer.search.question import QuestionWord, question_as_query, question_words, share_held
from vault_indexer.search.reader import IndexReader
from vault_indexer.search.searcher import Searcher, SearchResult
from vault_indexer.search.terms import is_common_word
from vault_indexer.search.together import SearchedVault, question_words_together, search_together
from vault_indexer.search.warm_up import load_words_in_background, warm_in_background

__all__ = [
    "IndexReader",
    "QueryDeadline",
    "QuestionWord",
    "ReadableText",
    "SearchResult",
    "SearchedVault",
    "Searcher",
    "code_blocks",
    "complete_query",
    "estimated_tokens",
    "function_words",
    "is_common_word",
    "load_words_in_background",
    "open_fence",
    "question_as_query",
    "question_words",
    "question_words_together",
    "readable",
    "search_together",
    "share_held",
    "warm_in_background",
]
