"""Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), weighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[int]], weights: Mapping[str, float], k: int
) -> dict[int, float]:
    """Every key of any ranking with sum over rankings of weight / (k + rank), rank counted from 1.

    The result does not depend on the order of the rankings. A ranking of weight 0 adds nothing.
    """
    fused: dict[int, float] = {}
    for name in sorted(rankings):
        weight = weights[name]
        if weight:
            for rank, key in enumerate(rankings[name], start=1):
                fused[key] = fused.get(key, 0.0) + weight / (k + rank)
    return fused


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Keys by falling score; equal scores by key."""
    return sorted(scores, key=lambda key: (-scores[key], key))
