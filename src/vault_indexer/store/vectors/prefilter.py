"""The way to the best vectors of a base: a rounded look at all, then an exact one at a few."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.store.vectors.coarse_index import CoarseVectors
from vault_indexer.store.vectors.faiss_rows import exact_products, halves_of, selection
from vault_indexer.store.vectors.note_means import NoteMeans

if TYPE_CHECKING:
    from vault_indexer.arrays import Mask, Matrix, Positions

_MIN_VECTORS = 10_000
"""Of fewer vectors a full pass is as fast."""

_BUILD_AFTER_SEARCHES = 3
"""The coarse index is built, in a thread, at this search: a process that asks once or twice would wait for it
in vain. A rule of thumb."""

_EXTRA_CANDIDATES = 16
"""So many more are taken from a full pass: FAISS adds up in another order, so of vectors that are equally
near it may prefer any. A rule of thumb."""

SAMPLED = 256
"""This number of vectors tells how near to a query the others are. A rule of thumb."""


def spread_evenly(count: int, limit: int) -> Positions:
    """At most `limit` of the numbers below `count`, spread evenly, ascending."""
    return np.unique(np.linspace(0, max(0, count - 1), min(count, limit)).astype(np.int64))


class VectorPrefilter:
    """Finds the best vectors of a FAISS index (float16, by inner product): through its coarse index, once
    somebody has searched often enough, else by a full pass. With it come the means of the notes. Thread-safe.

    `keys` are the chunk keys of the rows, ascending; `halves` are the vectors as they lie in memory.
    """

    def __init__(self, vectors: Any, keys: Positions) -> None:
        self.coarse: CoarseVectors | None = None
        self.means: NoteMeans | None = None
        self.halves = halves_of(vectors)
        self._vectors = vectors
        self._keys = keys
        self._sample: tuple[Positions, Matrix] | None = None
        self._waiting = _BUILD_AFTER_SEARCHES
        self._lock = threading.Lock()

    def make(self) -> None:
        """Build the coarse index and the means: 0.4 seconds for 84,462 vectors of 256 numbers."""
        if self._vectors.ntotal:
            self.coarse = CoarseVectors(self._vectors, self.halves)
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
        coarse = self.coarse
        if coarse is None:
            self._count()
        elif (found := coarse.search(query, k, among)) is not None:
            return found
        found = self._vectors.search(query[None, :], k + _EXTRA_CANDIDATES, params=selection(among))[1][0]
        positions = found[found >= 0]
        return positions, exact_products(self.halves, positions, query)

    def _count(self) -> None:
        if self._vectors.ntotal < _MIN_VECTORS:
            return
        with self._lock:
            self._waiting -= 1
            due = not self._waiting
        if due:
            threading.Thread(target=self.make, name="indexer-coarse", daemon=True).start()
