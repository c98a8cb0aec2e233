"""What the words of a query are worth: spelling, expansion, rarity, and the trust in vectors beside them."""

from __future__ import annotations

from vault_indexer.search.terms.expansion import expanded
from vault_indexer.search.terms.idf import weighed
from vault_indexer.search.terms.spelling import corrected
from vault_indexer.search.terms.vector_trust import language_of, trust, trust_beside

__all__ = ["corrected", "expanded", "language_of", "trust", "trust_beside", "weighed"]
