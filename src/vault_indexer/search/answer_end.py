"""Where an answer ends: every view of it sets off the hits behind that place by the same number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from vault_indexer.model import Verdict
from vault_indexer.search.confidence import LIKELY, STRONG

_OF_BEST = 0.6
"""A hit with less than this part of the best one's relevance is behind a fall. A rule of thumb."""

_ALIKE_NOTES = 3
"""Where no hit is a strong one, at most this many are likely: ten hits that are barely likely, all alike, are
what a vault has on single words of a query that no note answers. A rule of thumb."""


def count_likely(relevance: Sequence[float], verdict: Verdict) -> int:
    """How many of the first hits, whose relevances these are in the order of the answer, are likely: 0 where
    the verdict is "weak" or "none", else at least 1.

    Relevance does not fall steadily, as the order has more evidence. So each hit counts by how far it is
    above the least relevance of a likely one, or below it, and the answer ends where the sum is greatest: one
    lower hit between high ones stays in, and a high one behind many low ones does not bring them in.
    """
    if verdict in ("weak", "none") or not relevance:
        return 0
    best = max(relevance)
    least = max(_OF_BEST * best, min(best, LIKELY))
    sums = list(accumulate(value - least for value in relevance))
    first = next(at for at, value in enumerate(relevance) if value >= least)
    end = max(range(first, len(sums)), key=lambda at: (sums[at], at)) + 1
    return end if best >= STRONG else min(end, first + _ALIKE_NOTES)
