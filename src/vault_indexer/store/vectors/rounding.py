"""What the looks at vectors share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Matrix = NDArray[np.float32]

LARGEST = 127
"""The largest whole number that a rounded vector holds."""

LOOKED_AT = 3
"""So many times k are looked at again. Of 84,462 vectors of documentation k = 100 needed 261 at the most."""

_BATCH = 8192


def batches(vectors: Any) -> Iterator[tuple[int, Matrix]]:
    """The vectors of a FAISS index in order, some thousands at a time, each with its first position."""
    for start in range(0, vectors.ntotal, _BATCH):
        yield start, vectors.reconstruct_n(start, min(_BATCH, vectors.ntotal - start))


def step_of(vectors: Any) -> np.float32:
    """What one step of the whole numbers is worth for the vectors of a FAISS index that is not empty."""
    return np.float32(max(np.abs(batch).max() for _, batch in batches(vectors)) / LARGEST)


def rounded_query(query: Matrix) -> tuple[np.float32, Matrix]:
    """The step of a query (0 for a query of zeros), and the query in whole numbers of it."""
    step = np.float32(np.abs(query).max() / LARGEST)
    return step, np.rint(query / step) if step else query


def selection(among: Mask | None) -> Any:
    """FAISS' search parameters for the rows that are marked (None: all)."""
    import faiss

    if among is None:
        return None
    return faiss.SearchParameters(sel=faiss.IDSelectorBitmap(np.packbits(among, bitorder="little")))


def products(rows: Matrix, query: Matrix) -> Matrix:
    """The inner product of each row with `query`. Not by `@`, which adds up the last rows otherwise: equal
    vectors have to have equal scores."""
    found: Matrix = np.einsum("ij,j->i", rows, query)
    return found
