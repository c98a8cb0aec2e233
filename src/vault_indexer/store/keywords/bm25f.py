"""BM25F as Whoosh's scorer computes it, over arrays instead of one posting at a time.

For a term t in field f of document d:
    idf(f, t) * tf * (k1 + 1) / (tf + k1 * ((1 - b_f) + b_f * len(d, f) / avglen(f))) * boost_f
    idf(f, t) = ln(N / (df + 1)) + 1
summed over fields. N, df and avglen count deleted documents until a merge drops them, and lengths are
stored in Whoosh's 256 steps, so the scores are Whoosh's own (`whoosh.scoring.BM25F`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Floats32, Keys

_HALVINGS = 5
"""Before all is looked through, what is above 1/2 to 1/32 of the best is counted: a tenth of the time. A rule
of thumb."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Best first; equal scores stand in the order of their keys. Both arrays have one entry a hit."""

    keys: Keys
    scores: Floats32

    def __len__(self) -> int:
        return len(self.keys)


def inverse_document_frequency(document_count: int, document_frequency: int) -> float:
    """Whoosh's variant: never negative, and 1 for a term that every document holds."""
    return math.log(document_count / (document_frequency + 1)) + 1


def length_norms(lengths: Floats32, average: float, b: float, k1: float) -> Floats32:
    """k1 * ((1 - b) + b * length / average), by document."""
    norms: Floats32 = lengths * (k1 * b / (average or 1.0)) + k1 * (1 - b)
    return norms


def saturate(frequencies: Floats32, norms: Floats32, k1: float) -> Floats32:
    """tf * (k1 + 1) / (tf + norm): what a term frequency is worth in a field of that length."""
    worth: Floats32 = frequencies * (k1 + 1) / (frequencies + norms)
    return worth


def best(scores: Floats32, keys: Keys, k: int) -> Ranking:
    """The `k` best documents of positive score; `scores` and `keys` are by document."""
    found = best_positions(scores, k)
    if len(found) > k:
        candidates = scores[found]
        threshold = np.partition(candidates, len(candidates) - k)[len(candidates) - k]
        found = found[candidates >= threshold]
    found = found[np.lexsort((keys[found], -scores[found]))][:k]
    return Ranking(keys[found], scores[found])


def best_positions(scores: Floats32, k: int) -> NDArray[np.intp]:
    """The positions of the `k` best of positive score, ascending, and of others with them: few, where the
    best stand out."""
    if k <= 0:
        return np.empty(0, np.intp)
    cut = scores.max(initial=0)
    for _ in range(_HALVINGS):
        cut /= 2
        high = scores > cut
        if np.count_nonzero(high) >= k:
            return np.flatnonzero(high)
    return np.flatnonzero(scores > 0)
