"""Finds the best vectors of a base in two steps: an approximate scan of all, then exact products of a few."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from vault_indexer.arrays import Bytes, Halves, Keys, Mask, Matrix, Positions, first_of_each, row_products
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.system import back_by_huge_pages

_BATCH = 8192


def halves_of(vectors: Any) -> Halves:
    """The vectors of a float16 FAISS index in their memory layout, shape (vectors, dimension). The array is
    valid as long as the index exists and nothing is added to it."""
    import faiss

    size = vectors.codes.size()
    if not size:
        return np.empty((0, vectors.d), np.float16)
    held: Halves = faiss.rev_swig_ptr(vectors.codes.data(), size).view(np.float16).reshape(-1, vectors.d)
    return held


def exact_products(halves: Halves, rows: Positions, query: Matrix) -> Matrix:
    """The inner products of some of the vectors with `query`. Reading them from the array is twice as fast as
    FAISS' `reconstruct_batch`."""
    return row_products(halves[rows].astype(np.float32), query)


def vectors_in_batches(vectors: Any) -> Iterator[tuple[int, Matrix]]:
    """Yields the vectors of a FAISS index in order, a few thousand at a time, each batch with its first
    position."""
    for start in range(0, vectors.ntotal, _BATCH):
        yield start, vectors.reconstruct_n(start, min(_BATCH, vectors.ntotal - start))


def selection(among: Mask | None) -> Any:
    """FAISS' search parameters that select the marked rows (None: all)."""
    import faiss

    if among is None:
        return None
    return faiss.SearchParameters(sel=faiss.IDSelectorBitmap(np.packbits(among, bitorder="little")))


# An approximate scan of all vectors in four bits per number. It detects when it may have missed one of the
# best.
#
# A vector v is stored as v', whose numbers have one of 16 values each; FAISS scans these like codes of
# product quantisation. The error |q . v - q . v'| is a sum of one small error per dimension, so it is
# distributed normally, with a standard deviation of |q| |v - v'| / sqrt(dimension). For rescored vectors the
# error is known, and an error of eight deviations does not occur (1 in 10^15). So the k best are found if the
# k-th best exact product exceeds the best approximate product of the others by more than that.


_STEP = np.float32(0.3352)
"""The distance between 16 evenly spaced values that is best for normally distributed numbers, in standard
deviations (Max, Quantizing for Minimum Distortion, 1960, table II)."""

_LEAST_STEP = np.float32(1e-6)
"""The step of a dimension whose values hardly differ."""

_BITS = 4
_HALF = (1 << _BITS) // 2

_REACHES = (10, 40)
"""The multiples of k that are selected by their codes: first the smaller, then the larger if that does not
suffice. For 84,462 vectors of documentation and k = 60, the first sufficed for 955 of 1,000 questions and
beginnings of questions, the second for all. The largest of 96 million errors was 7.2 deviations."""

_MIN_CANDIDATES = 300
"""The minimum number of selected rows, of which half are rescored: fewer do not give a reliable deviation. A
rule of thumb."""

_MAX_RESCORED_SHARE = 1 / 16
"""If a larger share would be rescored, a full scan is as fast. A rule of thumb."""

_DEVIATIONS = np.float32(8.0)

_ODD = 2.0
"""A vector whose error exceeds the usual one by this factor is always rescored: one of its numbers is far
outside the 16 values. A rule of thumb."""


class _Best(NamedTuple):
    """The rows that may be among the k best, and their exact products. A row with an approximate product
    below `enough` cannot be among them."""

    rows: Positions
    products: Matrix
    enough: np.float32


class CoarseVectors:
    """The quantised vectors of a FAISS index. Thread-safe. `halves` contains the exact vectors in their
    memory layout."""

    def __init__(self, vectors: Any, halves: Halves) -> None:
        self._halves = halves
        middle, spread = _moments(vectors)
        step = np.maximum(_STEP * spread, _LEAST_STEP)
        of_row = np.empty((vectors.ntotal, (vectors.d + 1) // 2), np.uint8)
        lengths = np.empty(vectors.ntotal, np.float32)
        for start, exact in vectors_in_batches(vectors):
            end = start + len(exact)
            below = np.clip(np.floor((exact - middle) / step), -_HALF, _HALF - 1)
            error = exact - middle - _between(below) * step
            lengths[start:end] = np.sqrt(np.einsum("ij,ij->i", error, error))
            of_row[start:end] = _packed(below)
        points = middle[:, None] + _between(np.arange(-_HALF, _HALF, dtype=np.float32)) * step[:, None]
        self._coded = _scannable(points, of_row)
        back_by_huge_pages(int(self._coded.codes.get()), self._coded.codes.size())
        usual = np.sqrt(np.square(lengths).mean())
        self._usual = lengths <= _ODD * usual
        self._odd = np.flatnonzero(~self._usual)
        self._deviation = usual / np.float32(np.sqrt(vectors.d))

    def search(self, query: Matrix, k: int, among: Mask | None = None) -> tuple[Positions, Matrix] | None:
        """Like `VectorPrefilter.search`, but returns None if it may have missed one of the best."""
        # All products with a zero vector are equal, so there is nothing to rank.
        if not query.any():
            return None
        share = 1.0 if among is None else np.count_nonzero(among) / len(among)
        odd = self._odd if among is None else self._odd[among[self._odd]]
        for reach in _REACHES:
            # The scan ignores `among`, so it must return more rows the fewer are allowed, and odd rows may
            # occupy places.
            count = int(max(_MIN_CANDIDATES, reach * k) / share) + len(self._odd)
            if count > len(self._halves) * _MAX_RESCORED_SHARE:
                break
            rough, rows = (found[0] for found in self._coded.search(query[None, :], count))
            worst = rough[-1]
            kept = self._usual[rows] if among is None else self._usual[rows] & among[rows]
            found = self._best(query, k, rough[kept], rows[kept], odd)
            # All rows that were not returned have an approximate product of at most `worst`.
            if found is not None and found.enough > worst:
                return found.rows, found.products
        return None

    def _best(self, query: Matrix, k: int, rough: Matrix, rows: Positions, odd: Positions) -> _Best | None:
        """The best of these rows (best approximate product first) and of the odd ones; None if there are too
        few."""
        few = max(2 * k, _MIN_CANDIDATES // 2)
        first = np.concatenate([rows[:few], odd])
        exact = exact_products(self._halves, first, query)
        if len(first) < k:
            return None
        errors = exact[: len(rough[:few])] - rough[:few]
        enough = np.partition(exact, -k)[-k] - _DEVIATIONS * self._deviation_of(query, errors)
        near = rows[few:][rough[few:] >= enough]
        added = exact_products(self._halves, near, query)
        return _Best(np.concatenate([first, near]), np.concatenate([exact, added]), enough)

    def _deviation_of(self, query: Matrix, errors: Matrix) -> np.float32:
        """The standard deviation of the errors of the remaining rows: that of these errors, or the expected
        one if it is larger."""
        expected: np.float32 = self._deviation * np.sqrt(query @ query)
        return max(expected, np.sqrt(np.square(errors).mean())) if len(errors) else expected


def _scannable(points: Matrix, of_row: Bytes) -> Any:
    """A FAISS index that finds the rows whose codes represent the vectors with the largest inner products.

    It is product quantisation of each dimension separately (Jegou, Douze and Schmid 2011), scanned by the
    processor's shuffle instructions (Andre, Kermarrec and Le Scouarnec 2015). `points` (dimensions, 16)
    contains the values; `of_row` (vectors, bytes) contains one 4-bit code per dimension, two per byte, the
    first in the lower half.
    """
    import faiss

    dimension = len(points)
    plain = faiss.IndexPQ(dimension, dimension, _BITS, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(points.ravel(), plain.pq.centroids)
    plain.codes.resize(of_row.size)
    if of_row.size:
        faiss.rev_swig_ptr(plain.codes.data(), of_row.size)[:] = of_row.ravel()
    plain.ntotal = len(of_row)
    # The values were computed above, so there is nothing to learn from a sample.
    plain.is_trained = True
    return faiss.IndexPQFastScan(plain)


def _moments(vectors: Any) -> tuple[Matrix, Matrix]:
    sums = np.zeros((2, vectors.d))
    for _, exact in vectors_in_batches(vectors):
        # float64: the variance is a small difference between two large sums.
        sums += exact.sum(axis=0, dtype=np.float64), np.square(exact).sum(axis=0, dtype=np.float64)
    mean, square = sums / vectors.ntotal
    variance = np.maximum(square - np.square(mean), 0.0)
    return mean.astype(np.float32), np.sqrt(variance).astype(np.float32)


def _between(below: Matrix) -> Matrix:
    """The values in the middle of the steps, given the numbers of the steps."""
    return below + np.float32(0.5)


def _packed(below: Matrix) -> Bytes:
    """Packs the numbers of the steps into codes, two per byte."""
    codes = (below + _HALF).astype(np.uint8)
    packed: Bytes = codes[:, ::2].copy()
    # With an odd number of dimensions, the last byte has only a lower half.
    packed[:, : codes.shape[1] // 2] |= codes[:, 1::2] << _BITS
    return packed


class NoteMeans:
    """The mean vector of each note of a base, scaled to length 1, in float16, which represents the whole
    note. It takes a fifth of the memory of the vectors if a note has five chunks. It never changes; any
    thread may read it.

    `vectors` is a FAISS index whose rows have the chunk keys `keys` (ascending).
    """

    def __init__(self, vectors: Any, keys: Keys) -> None:
        self._notes, owners = np.unique(keys >> CHUNK_KEY_BITS, return_inverse=True)
        sums = np.zeros((len(self._notes), vectors.d), np.float32)
        for start, batch in vectors_in_batches(vectors):
            own = owners[start : start + len(batch)]
            first = np.flatnonzero(first_of_each(own))
            # Added, because the chunks of a note may be in two batches.
            sums[own[first]] += np.add.reduceat(batch, first, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        self._means = (sums / np.maximum(lengths, np.finfo(np.float32).tiny)[:, None]).astype(np.float16)

    def scores(self, query: Matrix, notes: Keys) -> Matrix:
        """The cosine of each of the notes with `query`; NaN for a note that is not in the base."""
        found = np.full(len(notes), np.nan, np.float32)
        if len(self._notes):
            at = self._notes.searchsorted(notes)
            at[at == len(self._notes)] = 0
            held = self._notes[at] == notes
            found[held] = exact_products(self._means, at[held], query)
        return found


_MIN_VECTORS = 10_000
"""For fewer vectors a full scan is as fast."""

_BUILD_AFTER_SEARCHES = 3
"""The coarse index is built, in a thread, at this search. A process that searches once or twice would not
benefit from it. A rule of thumb."""

_EXTRA_CANDIDATES = 16
"""A full scan returns this many additional rows. FAISS sums in a different order, so it may prefer any of
several equally near vectors. A rule of thumb."""

SAMPLED = 256
"""The number of vectors that measure how near to a query the others are. A rule of thumb."""


def spread_evenly(count: int, limit: int) -> Positions:
    """At most `limit` numbers below `count`, spread evenly, ascending."""
    return np.unique(np.linspace(0, max(0, count - 1), min(count, limit)).astype(np.int64))


class VectorPrefilter:
    """Finds the best vectors of a FAISS index (float16, by inner product): with a coarse index after a few
    searches, before that by a full scan. It also provides the mean vectors of the notes. Thread-safe.

    `keys` contains the chunk keys of the rows, ascending; `halves` contains the vectors in their memory
    layout.
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
        """Builds the coarse index and the means: 0.4 seconds for 84,462 vectors of 256 numbers."""
        if self._vectors.ntotal:
            self.coarse = CoarseVectors(self._vectors, self.halves)
            self.means = NoteMeans(self._vectors, self._keys)

    def sample(self) -> tuple[Positions, Matrix]:
        """The positions of at most `SAMPLED` vectors, spread evenly, and these vectors; computed once."""
        # Without a lock: two threads that compute it at the same time get the same result.
        if self._sample is None:
            rows = spread_evenly(self._vectors.ntotal, SAMPLED)
            self._sample = rows, self.halves[rows].astype(np.float32)
        return self._sample

    def search(self, query: Matrix, k: int, among: Mask | None = None) -> tuple[Positions, Matrix]:
        """Positions and exact inner products of the k best (of the rows marked in `among`), in no particular
        order, possibly with a few more."""
        # Read once: `make` sets it in another thread.
        coarse = self.coarse
        if coarse is None:
            self._count()
        elif (found := coarse.search(query, k, among)) is not None:
            return found
        found = self._vectors.search(query[None, :], k + _EXTRA_CANDIDATES, params=selection(among))[1][0]
        # FAISS returns -1 in the places for which it found no row.
        positions = found[found >= 0]
        return positions, exact_products(self.halves, positions, query)

    def _count(self) -> None:
        if self._vectors.ntotal < _MIN_VECTORS:
            return
        with self._lock:
            self._waiting -= 1
            # Exactly one search counts down to 0, so only one thread is started.
            due = not self._waiting
        if due:
            threading.Thread(target=self.make, name="indexer-coarse", daemon=True).start()
