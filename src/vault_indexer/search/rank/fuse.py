"""Fuses the three rankings into one list, by rank only."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.search.rank.candidates import Candidates, RankRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def fuse(table: Candidates, request: RankRequest) -> None:
    """Sets the score and rank of each row in the fusion. With `search.rerank`, keeps only the first rows, at
    least twice the requested number of hits, and the rows of notes whose name is the query."""
    table.rows_at(np.array(list(table.named.values()), np.int64))
    table.fused = fused_scores(table, request.settings)
    order = table.best_first(table.fused)
    table.fused_rank[order] = np.arange(1, len(order) + 1)
    table.fusion_order = table.key[order]
    if request.settings.rerank:
        table.reranked = max(request.settings.rerank, 2 * request.limit)
        named = np.isin(table.fusion_order, list(table.named.values()))
        table.take(order[(table.fused_rank[order] <= table.reranked) | named])


def fused_scores(table: Candidates, settings: SearchSettings) -> NDArray[np.float64]:
    """Returns the score of each row from its ranks so far."""
    ranks = {"vector": table.vector_rank, "keyword": table.word_rank, "graph": table.link_rank}
    rankings = {name: _in_order(column) for name, column in ranks.items()}
    fused = reciprocal_rank_fusion(rankings, settings.weights.model_dump(), settings.rrf_k)
    return np.array([fused.get(row, 0.0) for row in range(len(table))], np.float64)


def _in_order(ranks: NDArray[np.int64]) -> list[int]:
    """Returns the rows of one ranking, best first."""
    rows = np.flatnonzero(ranks)
    return rows[ranks[rows].argsort()].tolist()  # type: ignore[no-any-return]


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[T]], weights: Mapping[str, float], k: int = RRF_K
) -> dict[T, float]:
    """Returns every key of any ranking with the sum over rankings of weight / (k + rank). Ranks start at 1.

    The result does not depend on the order of the rankings. A ranking with weight 0 adds nothing.
    """
    fused: dict[T, float] = {}
    # Sorted, because the sum of floating-point numbers depends on their order.
    for name in sorted(rankings):
        weight = weights[name]
        if weight:
            for rank, key in enumerate(rankings[name], start=1):
                fused[key] = fused.get(key, 0.0) + weight / (k + rank)
    return fused
