"""Retrieve: the chunks nearest to the query in meaning, and those that hold its words best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.search.filters import ChunkFilter
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest, global_keys
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FIELD_WEIGHTS, FieldWeights
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]
    Scores = NDArray[np.float32]

_REACHES = (2, 16)
"""A filter is first checked on these multiples of the chunks that a ranking needs. A rule of thumb."""


def retrieve(table: Candidates, request: RankRequest) -> None:
    """The first `depth` chunks by meaning and by word, those of several vaults by comparable scores."""
    weights, k = request.settings.weights, table.depth
    near, cosines = merge_top_k([_meaning(one, k) for one in request.queries] if weights.vector else [], k)
    said, scores = merge_top_k([_words(one, k) for one in request.queries] if weights.keyword else [], k)
    rows = table.rows_at(np.concatenate([near, said]))
    nearest, best = rows[: len(near)], rows[len(near) :]
    table.vector_rank[nearest] = np.arange(1, len(near) + 1)
    table.cosine[nearest] = cosines
    table.last_cosine = float(min(cosines, default=0.0))
    table.word_rank[best] = np.arange(1, len(said) + 1)
    table.words[best] = scores
    table.last_words = float(min(scores, default=0.0))


def merge_top_k(rankings: Sequence[tuple[Keys, Scores]], k: int) -> tuple[Keys, Scores]:
    """The k best of several vaults' rankings by score, under the keys that tell the vaults apart."""
    if len(rankings) == 1:
        return rankings[0]
    keys = [global_keys(number, keys) for number, (keys, _) in enumerate(rankings)]
    every = np.concatenate([np.empty(0, np.int64), *keys])
    scores = np.concatenate([np.empty(0, np.float32), *(scores for _, scores in rankings)])
    best = np.lexsort((every, -scores))[:k]
    return every[best], scores[best]


def _meaning(query: PreparedQuery, k: int) -> tuple[Keys, Scores]:
    found = by_meaning(query.snapshot, query.vector, k, query.chosen)
    query.deadline.check()
    return found


def _words(query: PreparedQuery, k: int) -> tuple[Keys, Scores]:
    return by_word(query.snapshot, query.terms, FIELD_WEIGHTS, k, query.chosen)


def by_meaning(
    snapshot: Snapshot, query: Vectors, k: int, chosen: ChunkFilter | None = None
) -> tuple[Keys, Scores]:
    """The k chunks (of those that a filter leaves) nearest to the query vector, and their cosines, best
    first; none if it has no known token."""
    if not query.any():
        return np.empty(0, np.int64), np.empty(0, np.float32)
    return _best(partial(snapshot.vectors.search, query), k, chosen)


def by_word(
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    k: int,
    chosen: ChunkFilter | None = None,
) -> tuple[Keys, Scores]:
    """The k best chunks (of those that a filter leaves) with any of the words, and their BM25F scores."""

    def search(k: int, allowed: Keys | None) -> tuple[Keys, Scores]:
        ranking = snapshot.keywords.search(terms, weights, k, allowed)
        return ranking.keys, ranking.scores

    return _best(search, k, chosen)


def _best(
    search: Callable[[int, Keys | None], tuple[Keys, Scores]], k: int, chosen: ChunkFilter | None
) -> tuple[Keys, Scores]:
    """The k best chunks that a filter leaves. It checks the notes of the best ones; only where it leaves few
    of these does it check all."""
    if chosen is None:
        return search(k, None)
    for reach in _REACHES:
        if not chosen.is_open:
            break
        keys, scores = search(reach * k, chosen.keys)
        kept = chosen.passing(keys, k)
        if int(kept.sum()) >= k or len(keys) < reach * k:
            return keys[kept][:k], scores[kept][:k]
    chosen.settle()
    return search(k, chosen.keys)


# Complete: the scores that one ranking lacks of the chunks that another one gave.


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
