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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Best first; equal scores stand in the order of their keys. Both arrays have one entry a hit."""

    keys: Keys
    scores: Floats

    def __len__(self) -> int:
        return len(self.keys)


def inverse_document_frequency(document_count: int, document_frequency: int) -> float:
    """Whoosh's variant: never negative, and 1 for a term that every document holds."""
    return math.log(document_count / (document_frequency + 1)) + 1


def length_norms(lengths: Floats, average: float, b: float, k1: float) -> Floats:
    """k1 * ((1 - b) + b * length / average), by document."""
    norms: Floats = lengths * (k1 * b / (average or 1.0)) + k1 * (1 - b)
    return norms


def saturate(frequencies: Floats, norms: Floats, k1: float) -> Floats:
    """tf * (k1 + 1) / (tf + norm): what a term frequency is worth in a field of that length."""
    worth: Floats = frequencies * (k1 + 1) / (frequencies + norms)
    return worth


def best(scores: Floats, keys: Keys, k: int) -> Ranking:
    """The `k` best documents of positive score; `scores` and `keys` are by document."""
    import numpy as np

    found = np.flatnonzero(scores)
    if len(found) > k > 0:
        candidates = scores[found]
        threshold = np.partition(candidates, len(candidates) - k)[len(candidates) - k]
        found = found[candidates >= threshold]
    found = found[np.lexsort((keys[found], -scores[found]))][: max(k, 0)]
    return Ranking(keys[found], scores[found])
