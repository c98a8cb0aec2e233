"""Scores of a common word in one byte a document, for a first look at very many documents.

A score s is kept as the whole number c of steps with c - 1 < s / step <= c. So the sum of such numbers is at
least the exact score of a document, and at most one step of each word above it: whoever is further below the
k-th best sum is not among the k best. The few that are left are looked up exactly. For 843,000 chunks this
is an eighth of what exact scores and their positions take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.store.keywords.bm25f import best_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Bytes, Floats32, Mask

    Positions = NDArray[np.intp]

_STEPS = 254
"""The best score has this number of steps; rounded up that is a byte, whatever the division loses."""

_BLOCK = 1 << 16
"""Documents that are added up at once: their numbers stay in the processor's cache."""

_STEP_ROUNDING = 1.01
_SUM_ROUNDING = 1e-5
"""More than float32 can lose: of a step by dividing (255 * 2^-23), and of a sum by adding some dozen words
(n * 2^-24 of it)."""


class RoundedScores(NamedTuple):
    """`codes` are the scores by position in steps of `step`, rounded up; 0 for none. `in_order` says for each
    class of the word how its fields are summed (`postings.sums_in_order`)."""

    codes: Bytes
    step: float
    in_order: tuple[bool, ...]

    @classmethod
    def of(cls, scores: Floats32, in_order: tuple[bool, ...]) -> RoundedScores:
        """Those of scores by position, some of them above 0."""
        step = float(scores.max()) / _STEPS
        codes = (scores / np.float32(step)).astype(np.uint8)
        codes += scores > 0
        return cls(codes, step, in_order)

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self.codes.nbytes

    @property
    def is_empty(self) -> bool:
        """Whether no document has a score."""
        return False

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds about factor * score at every position, and returns by how much that may be too high."""
        worth = np.float32(self.step * factor)
        for start in range(0, len(totals), _BLOCK):
            block = slice(start, start + _BLOCK)
            totals[block] += self.codes[block] * worth
        return self.step * factor

    def holds(self, positions: NDArray[np.integer]) -> Mask:
        """Whether the documents there have a score."""
        held: Mask = self.codes[positions] > 0
        return held


def may_be_best(sums: Floats32, k: int, too_high: float) -> Positions:
    """Positions, ascending, of all that may be among the k best if each sum is at most `too_high` above the
    exact one, and not below it."""
    found = best_positions(sums, k)
    if len(found) < max(k, 1):
        return found
    least = float(np.partition(sums[found], len(found) - k)[len(found) - k])
    bound = least * (1 - _SUM_ROUNDING) - too_high * _STEP_ROUNDING
    return np.flatnonzero(sums > max(bound, 0.0))
