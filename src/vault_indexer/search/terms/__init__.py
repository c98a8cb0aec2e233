"""What the words of a query are worth: spelling, compounds, expansion, rarity, and the trust in vectors."""

from __future__ import annotations

from vault_indexer.search.terms.common_words import is_common, is_common_word
from vault_indexer.search.terms.compounds import with_compounds
from vault_indexer.search.terms.expansion import expand_terms
from vault_indexer.search.terms.idf import weight_by_idf
from vault_indexer.search.terms.spelling import find_corrections, with_corrections
from vault_indexer.search.terms.vector_weight import language_of, language_weight, vector_weight
from vault_indexer.search.terms.words import query_words

__all__ = [
    "expand_terms",
    "find_corrections",
    "is_common",
    "is_common_word",
    "language_of",
    "language_weight",
    "query_words",
    "vector_weight",
    "weight_by_idf",
    "with_compounds",
    "with_corrections",
]
