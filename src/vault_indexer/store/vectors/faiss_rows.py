"""The rows of a FAISS index of float16, as they lie in its memory, and exact products of some of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.arrays import row_products

if TYPE_CHECKING:
    from vault_indexer.arrays import Halves, Mask, Matrix, Positions

_BATCH = 8192


def halves_of(vectors: Any) -> Halves:
    """The vectors of a FAISS index of float16 as they lie in its memory, shape (vectors, dimension). The
    array is valid as long as the index is, and as long as nothing is added."""
    import faiss

    size = vectors.codes.size()
    if not size:
        return np.empty((0, vectors.d), np.float16)
    held: Halves = faiss.rev_swig_ptr(vectors.codes.data(), size).view(np.float16).reshape(-1, vectors.d)
    return held


def exact_products(halves: Halves, rows: Positions, query: Matrix) -> Matrix:
    """The inner products of some of the vectors with `query`. To take them from the array is twice as fast as
    FAISS' `reconstruct_batch`."""
    return row_products(halves[rows].astype(np.float32), query)


def vectors_in_batches(vectors: Any) -> Iterator[tuple[int, Matrix]]:
    """The vectors of a FAISS index in order, some thousands at a time, each with its first position."""
    for start in range(0, vectors.ntotal, _BATCH):
        yield start, vectors.reconstruct_n(start, min(_BATCH, vectors.ntotal - start))


def selection(among: Mask | None) -> Any:
    """FAISS' search parameters for the rows that are marked (None: all)."""
    import faiss

    if among is None:
        return None
    return faiss.SearchParameters(sel=faiss.IDSelectorBitmap(np.packbits(among, bitorder="little")))
