"""Fuse: one list of the three rankings, by their ranks alone."""

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
    """Give each row its score and rank in the fusion. With `search.rerank` only the first rows stay, at least
    twice as many as hits are asked for, and those of notes whose name is the query."""
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
    """The score of each row by the ranks that it has so far."""
    ranks = {"vector": table.vector_rank, "keyword": table.word_rank, "graph": table.link_rank}
    rankings = {name: _in_order(column) for name, column in ranks.items()}
    fused = reciprocal_rank_fusion(rankings, settings.weights.model_dump(), settings.rrf_k)
    return np.array([fused.get(row, 0.0) for row in range(len(table))], np.float64)


def _in_order(ranks: NDArray[np.int64]) -> list[int]:
    """The rows of one ranking, best first."""
    rows = np.flatnonzero(ranks)
    return rows[ranks[rows].argsort()].tolist()  # type: ignore[no-any-return]


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[T]], weights: Mapping[str, float], k: int = RRF_K
) -> dict[T, float]:
    """Every key of any ranking with sum over rankings of weight / (k + rank), rank counted from 1.

    The result does not depend on the order of the rankings. A ranking of weight 0 adds nothing.
    """
    fused: dict[T, float] = {}
    for name in sorted(rankings):
        weight = weights[name]
        if weight:
            for rank, key in enumerate(rankings[name], start=1):
                fused[key] = fused.get(key, 0.0) + weight / (k + rank)
    return fused
