"""The vectors of a base in clusters: where a search among very many looks first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Halves = NDArray[np.float16]
    Matrix = NDArray[np.float32]
    Numbers = NDArray[np.uint16]

MOST = 1 << 16
_BATCH = 8192
_SAMPLE = 48
"""So many vectors a cluster are looked at to find the centres. FAISS warns below 39."""
_ROUNDS = 8
_SEED = 1


@dataclass(frozen=True, slots=True)
class Clusters:
    """`centres` (clusters, dimension) have length 1; `of_row` is the number of each row's cluster."""

    centres: Matrix
    of_row: Numbers


def divide(vectors: Halves, count: int) -> Clusters:
    """Divide vectors (rows of length 1) into `count` clusters, at most `MOST`, by spherical k-means on a
    sample that is spread evenly. The same rows give the same clusters."""
    import faiss

    rows = np.linspace(0, len(vectors) - 1, min(len(vectors), count * _SAMPLE)).astype(np.int64)
    dimension = vectors.shape[1]
    kmeans = faiss.Kmeans(
        dimension,
        count,
        niter=_ROUNDS,
        spherical=True,
        seed=_SEED,
        min_points_per_centroid=1,
        max_points_per_centroid=_SAMPLE,
    )
    kmeans.train(vectors[rows].astype(np.float32))
    centres = kmeans.centroids
    nearest = faiss.IndexFlatIP(dimension)
    nearest.add(centres)
    of_row = np.empty(len(vectors), np.uint16)
    for start in range(0, len(vectors), _BATCH):
        batch = vectors[start : start + _BATCH].astype(np.float32)
        of_row[start : start + _BATCH] = nearest.search(batch, 1)[1][:, 0]
    return Clusters(centres, of_row)
