"""The weights of query words: spelling, compounds, synonyms, rarity, and the trust in vectors."""

from __future__ import annotations

from vault_indexer.search.terms.compounds import (
    Groups,
    Synonym,
    as_spelt,
    find_corrections,
    find_synonyms,
    irregular_forms,
    with_compounds,
    with_corrections,
    with_synonyms,
)
from vault_indexer.search.terms.words import (
    WordStatistics,
    is_common_word,
    lacking_weight,
    language_of,
    language_weight,
    query_words,
    vector_weight,
    weight_by_idf,
)

__all__ = [
    "Groups",
    "Synonym",
    "WordStatistics",
    "as_spelt",
    "find_corrections",
    "find_synonyms",
    "irregular_forms",
    "is_common_word",
    "lacking_weight",
    "language_of",
    "language_weight",
    "query_words",
    "vector_weight",
    "weight_by_idf",
    "with_compounds",
    "with_corrections",
    "with_synonyms",
]
