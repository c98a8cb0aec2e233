"""Short codes of the vectors of a base: two bits a dimension, for a search among very many.

Product quantisation (Jegou, Douze and Schmid 2011) of pairs of dimensions, 16 points a pair, scanned by the
processor's shuffle instructions (Andre, Kermarrec and Le Scouarnec 2015). For vectors of 256 dimensions that
is FAISS' `PQ128x4fs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.store.vectors.faiss_rows import exact_products, halves_of
from vault_indexer.store.vectors.rule import IndexRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Halves = NDArray[np.float16]
    Mask = NDArray[np.bool_]
    Matrix = NDArray[np.float32]
    Positions = NDArray[np.int64]

BITS = 4
"""Of the code of a pair of dimensions."""

_BATCH = 8192
_SAMPLE = 32_768
"""So many vectors, spread evenly, decide the points. A rule of thumb."""

_MAX_RESCORED_SHARE = 1 / 8
"""Where more than this share of all vectors would have to be compared exactly, all are. A rule of thumb."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The dimensions in parts of the same size, in order: those of a base are pairs. `points` (parts, 16,
    dimensions of a part) stand for what lies near them; `of_row` (vectors, bytes of a code) names for each
    vector the nearest point of each part, two in a byte, the first in its lower half."""

    points: Matrix
    of_row: Bytes


def code_bytes(dimension: int) -> int:
    """The length of a code."""
    return (dimension // 2 * BITS + 7) // 8


def encode(vectors: Halves) -> Codes:
    """The codes of vectors of an even dimension. The same rows give the same codes."""
    count, dimension = vectors.shape
    quantizer = _quantizer(dimension)
    rows = np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64)
    quantizer.cp.min_points_per_centroid = 1  # FAISS would print a warning for few vectors
    quantizer.train(vectors[rows].astype(np.float32))
    of_row = np.empty((count, code_bytes(dimension)), np.uint8)
    for start in range(0, count, _BATCH):
        batch = vectors[start : start + _BATCH].astype(np.float32)
        of_row[start : start + _BATCH] = quantizer.compute_codes(batch)
    return Codes(_points(quantizer), of_row)


class CodedVectors:
    """The codes of the vectors of a FAISS index, ready to be searched. Thread-safe.

    A search looks at all codes and exactly at the vectors whose codes are nearest: it finds nearly always
    the best of all.
    """

    def __init__(self, vectors: Any, codes: Codes, rule: IndexRule) -> None:
        self._vectors = vectors
        self._halves = halves_of(vectors)
        self._rule = rule
        self._coded = scannable(codes)

    def search(self, query: Matrix, k: int, among: Mask | None = None) -> tuple[Positions, Matrix] | None:
        """As `VectorPrefilter.search`. None where too few of the nearest are `among` those allowed: the best
        of these may have codes that are further."""
        wanted = self._rule.candidates(k)
        share = 1.0 if among is None else max(1, int(np.count_nonzero(among))) / len(among)
        count = int(wanted / share)
        if count > self._vectors.ntotal * _MAX_RESCORED_SHARE:
            return None
        positions = self._coded.search(query[None, :], count)[1][0]
        if among is not None:
            found = positions[among[positions]]
            if len(found) * 2 < wanted:
                return None
            positions = found
        return positions, exact_products(self._halves, positions, query)


def scannable(codes: Codes) -> Any:
    """A FAISS index of the codes, which finds the rows of the largest inner products with what they stand
    for."""
    import faiss

    parts, _, size = codes.points.shape
    plain = faiss.IndexPQ(parts * size, parts, BITS, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(codes.points.ravel(), plain.pq.centroids)
    plain.codes.resize(codes.of_row.size)
    if codes.of_row.size:
        faiss.rev_swig_ptr(plain.codes.data(), codes.of_row.size)[:] = codes.of_row.ravel()
    plain.ntotal = len(codes.of_row)
    plain.is_trained = True
    return faiss.IndexPQFastScan(plain)


def _quantizer(dimension: int) -> Any:
    import faiss

    return faiss.ProductQuantizer(dimension, dimension // 2, BITS)


def _points(quantizer: Any) -> Matrix:
    import faiss

    points: Matrix = faiss.vector_to_array(quantizer.centroids).reshape(quantizer.M, quantizer.ksub, -1)
    return points
