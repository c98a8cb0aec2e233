"""Complete: the scores that one ranking lacks of the chunks that another one gave."""

from __future__ import annotations

import numpy as np

from vault_indexer.search.rank.candidates import Candidates, RankRequest
from vault_indexer.store.keywords import FIELD_WEIGHTS


def complete(table: Candidates, request: RankRequest) -> None:
    """Look up each cosine and BM25F score that is missing. Nothing is looked up where one of the two rankings
    does not count. The ranks of what is looked up are one behind the last."""
    weights = request.settings.weights
    if not (weights.vector and weights.keyword):
        return
    for number, query in enumerate(request.queries):
        own = table.rows_of_vault(number)
        rows = own[np.isnan(table.cosine[own])]
        if query.vector.any():
            cosines = query.snapshot.vectors.scores(query.vector, table.local_key[rows])
            near = ~np.isnan(cosines)
            table.cosine[rows[near]] = cosines[near]
            table.vector_rank[rows[near]] = table.depth + 1
        rows = own[np.isnan(table.words[own])]
        scores = query.snapshot.keywords.scores(table.local_key[rows], query.terms, FIELD_WEIGHTS)
        held = scores > 0
        table.words[rows[held]] = scores[held]
        table.word_rank[rows[held]] = table.depth + 1
