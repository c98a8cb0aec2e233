"""From several rankings to one: by rank, or by score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[int]], weights: Mapping[str, float], k: int
) -> dict[int, float]:
    """Every key of any ranking with sum over rankings of weight / (k + rank), rank counted from 1
    (Cormack, Clarke and Büttcher, SIGIR 2009).

    The result does not depend on the order of the rankings. A ranking of weight 0 adds nothing.
    """
    fused: dict[int, float] = {}
    for name in sorted(rankings):
        weight = weights[name]
        if weight:
            for rank, key in enumerate(rankings[name], start=1):
                fused[key] = fused.get(key, 0.0) + weight / (k + rank)
    return fused


def convex_combination(
    scores: Mapping[str, Mapping[int, float]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Every key of any ranking with the weighted mean of its scores (Bruch, Gai and Ingber, TOIS 2023).

    Scores are to be in [0, 1] each, and so is the result; a key that a ranking lacks has 0 there. A ranking
    of weight 0 adds nothing, and neither does an empty one: it takes no part in the mean.
    """
    counted = [name for name in sorted(scores) if weights[name] and scores[name]]
    total = sum(weights[name] for name in counted)
    fused: dict[int, float] = {}
    for name in counted:
        share, held = weights[name] / total, fused.get
        fused |= {key: held(key, 0.0) + share * score for key, score in scores[name].items()}
    return fused


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Keys by falling score; equal scores by key."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)  # a stable sort, also in reverse
