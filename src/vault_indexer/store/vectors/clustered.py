"""A first look at the nearest clusters only: for more vectors than a search can pass over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.store.vectors.clusters import Clusters
from vault_indexer.store.vectors.rounding import LOOKED_AT, batches, products, rounded_query, step_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Positions = NDArray[np.int64]


class ClusteredVectors:
    """The vectors of the index by cluster, in one byte a number. Thread-safe.

    A search looks at the rounded vectors of the `probed` clusters whose centres are nearest, and again at the
    best of these exactly. What lies in other clusters is not found.
    """

    def __init__(self, vectors: Any, clusters: Clusters, probed: int) -> None:
        import faiss

        self._vectors = vectors
        self._probed = probed
        self._centres = faiss.IndexFlatIP(vectors.d)
        self._centres.add(clusters.centres)
        step = step_of(vectors)
        # FAISS compares these as whole numbers, and cuts off what of a query is none.
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        count = len(clusters.centres)
        self._lists = faiss.IndexIVFScalarQuantizer(
            self._centres, vectors.d, count, kind, faiss.METRIC_INNER_PRODUCT, False
        )
        self._lists.is_trained = True
        for start, exact in batches(vectors):
            end = start + len(exact)
            rows, own = np.arange(start, end), clusters.of_row[start:end].astype(np.int64)
            whole = np.rint(exact / step)
            self._lists.add_core(len(exact), faiss.swig_ptr(whole), faiss.swig_ptr(rows), faiss.swig_ptr(own))

    def search(self, query: Matrix, k: int, among: Any = None) -> tuple[Positions, Matrix] | None:
        """As `VectorPrefilter.search`; None where the nearest clusters hold fewer than `k` of those."""
        import faiss

        step, whole = rounded_query(query)
        if not step:
            return None
        how = faiss.SearchParametersIVF(sel=among.sel if among is not None else None, nprobe=self._probed)
        _, found = self._lists.search(whole[None, :], LOOKED_AT * k, params=how)
        positions = found[0][found[0] >= 0]
        if len(positions) < k:
            return None
        return positions, products(self._vectors.reconstruct_batch(positions), query)
