"""A first look at all vectors in one byte a number, which proves that what it leaves out could not be found.

A vector v is kept as v' = s c of whole numbers c, a query q as q' likewise. Then
    |q . v - q' . v'| <= |q| |v - v'| + |q - q'| |v'|  (Cauchy and Schwarz),
and the largest |v - v'| and |v'| are known. So if the k-th best exact product among those looked at again is
above the best that one left out can have, the k best of them are the k best of all. This reads half the bytes
of the vectors, and the processor multiplies more of them at once.

The look is for the nearest by distance, 2 q' . v' = |q'|^2 + |v'|^2 - |q' - v'|^2: the lengths are nearly the
same, so that these are the largest products, and FAISS is a fifth faster with distances.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.store.vectors.codes import CodedVectors, Codes
from vault_indexer.store.vectors.note_means import NoteMeans
from vault_indexer.store.vectors.rounding import (
    LOOKED_AT,
    batches,
    exact_products,
    halves_of,
    rounded_query,
    selection,
    step_of,
)
from vault_indexer.store.vectors.rule import RULE, IndexRule
from vault_indexer.system import back_by_huge_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Matrix = NDArray[np.float32]
    Positions = NDArray[np.int64]

_ROUNDING = 2.0**-23
"""Times the dimension: more than a sum of so many float32 products can be wrong by, as a part of the sum of
their sizes (Higham, Accuracy and Stability of Numerical Algorithms, 3.1: n u / (1 - n u), with u = 2^-24)."""

_WORTH = 10_000
"""Of fewer vectors a full pass is as fast."""

_PATIENCE = 3
"""The screen is made, beside, at this search: a process that asks once or twice would wait for it in vain."""


SAMPLED = 256
"""So many vectors tell how near to a query the others are."""


def spread_evenly(count: int, most: int) -> Positions:
    """At most `most` of the numbers below `count`, spread evenly, ascending."""
    return np.unique(np.linspace(0, max(0, count - 1), min(count, most)).astype(np.int64))


class VectorPrefilter:
    """The way to the best of a FAISS index (float16, by inner product): through its screen, once somebody has
    searched often enough, else by a full pass. With the screen come the means of the notes. Thread-safe.

    `keys` are the chunk keys of the rows, ascending; `halves` are the vectors as they lie in memory. With
    `codes` the screen looks at these, as `rule` says, and the best of all are found nearly always instead of
    always.
    """

    def __init__(
        self, vectors: Any, keys: Positions, codes: Codes | None = None, rule: IndexRule = RULE
    ) -> None:
        self.screen: RoundedVectors | CodedVectors | None = None
        self.means: NoteMeans | None = None
        self.codes = codes
        self.rule = rule
        self.halves = halves_of(vectors)
        self._vectors = vectors
        self._keys = keys
        self._sample: tuple[Positions, Matrix] | None = None
        self._waiting = _PATIENCE
        self._lock = threading.Lock()

    def make(self) -> None:
        """Have screen and means from now on: 0.4 seconds for 84,462 vectors of 256 numbers."""
        if self._vectors.ntotal:
            self.screen = (
                RoundedVectors(self._vectors)
                if self.codes is None
                else CodedVectors(self._vectors, self.codes, self.rule)
            )
            self.means = NoteMeans(self._vectors, self._keys)

    def sample(self) -> tuple[Positions, Matrix]:
        """The positions of at most `SAMPLED` vectors, spread evenly, and these vectors; made once."""
        if self._sample is None:
            rows = spread_evenly(self._vectors.ntotal, SAMPLED)
            self._sample = rows, self.halves[rows].astype(np.float32)
        return self._sample

    def search(self, query: Matrix, k: int, among: Mask | None = None) -> tuple[Positions, Matrix]:
        """Positions and exact inner products of the k best (`among` those that it marks), in no order and
        maybe some more with them."""
        screen = self.screen
        if screen is None:
            self._count()
        elif (found := screen.search(query, k, among)) is not None:
            return found
        scores, positions = self._vectors.search(query[None, :], k, params=selection(among))
        return positions[0], scores[0]

    def _count(self) -> None:
        if self._vectors.ntotal < _WORTH:
            return
        with self._lock:
            self._waiting -= 1
            due = not self._waiting
        if due:
            threading.Thread(target=self.make, name="indexer-screen", daemon=True).start()


class RoundedVectors:
    """The vectors of the index, rounded. Thread-safe."""

    def __init__(self, vectors: Any) -> None:
        import faiss

        self._halves = halves_of(vectors)
        self._step = step_of(vectors)
        # FAISS compares these as whole numbers, and cuts off what of a query is none.
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        self._rounded = faiss.IndexScalarQuantizer(vectors.d, kind, faiss.METRIC_L2)
        self._furthest = self._longest = 0.0
        for _, exact in batches(vectors):
            whole = np.rint(exact / self._step)
            self._rounded.add(whole)
            self._furthest = max(self._furthest, _longest(exact - whole * self._step))
            self._longest = max(self._longest, _longest(whole * self._step))
        codes = self._rounded.codes
        back_by_huge_pages(int(codes.data()), codes.size())

    def search(self, query: Matrix, k: int, among: Mask | None = None) -> tuple[Positions, Matrix] | None:
        """As `VectorPrefilter.search`; None where it could not be proved that these are the best."""
        step, whole = rounded_query(query)
        if not step:
            return None
        count = LOOKED_AT * k
        distances, found = self._rounded.search(whole[None, :], count, params=selection(among))
        positions = found[0][found[0] >= 0]
        exact = exact_products(self._halves, positions, query)
        if len(positions) == count:
            steps = float(step * self._step)
            rough = self._largest_product(float(distances[0][-1]) * steps, whole, steps)
            left_out = rough + self._off(query, query - whole * step)
            if np.partition(exact, count - k)[count - k] <= left_out:
                return None
        return positions, exact

    def _largest_product(self, distance: float, whole: Matrix, steps: float) -> float:
        """The most that the product of a rounded query with a rounded vector can be, if the square of their
        distance is at least this one; all in `steps`, that is times the step of both."""
        nearest = distance * (1.0 - _ROUNDING * len(whole))
        squares = float(np.square(whole, dtype=np.float64).sum()) + (self._longest / float(self._step)) ** 2
        return (squares * steps - nearest) / 2.0

    def _off(self, query: Matrix, cut: Matrix) -> float:
        """How far a rough product can be from the exact one, if `cut` is what rounding took off the query."""
        by_rounding = self._furthest * _longest(query[None]) + self._longest * _longest(cut[None])
        return by_rounding + 2.0 * _ROUNDING * len(query)


def _longest(rows: Matrix) -> float:
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))
