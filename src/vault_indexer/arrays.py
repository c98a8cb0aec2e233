"""Names for the arrays that several packages pass on, and operations on them. It loads numpy."""

from __future__ import annotations

import sys
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Halves = NDArray[np.float16]

Keys = NDArray[np.int64]
"""Keys of chunks (`model.chunk_key`) or of notes."""

Mask = NDArray[np.bool_]
Matrix = NDArray[np.float32]
"""One vector per row."""

Positions = NDArray[np.int64]
"""Indices of another array."""

Vectors = NDArray[np.float32]
"""Embeddings, of length 1."""

WordNumbers = NDArray[np.uint16]
"""Words of a static model."""


# Ranges of positions. In every store, a note is a range of chunk keys.


def spread_ranges(
    firsts: Positions, ends: Positions, limit: int = sys.maxsize
) -> tuple[Positions, Positions]:
    """The concatenated numbers of all ranges (`firsts` inclusive, `ends` exclusive), and the index of each
    number's range. A range longer than `limit` contributes only `limit` of its numbers, evenly spread."""
    lengths = ends - firsts
    taken = np.minimum(lengths, limit)
    owners = np.repeat(np.arange(len(firsts)), taken)
    within = np.arange(len(owners)) - np.repeat(taken.cumsum() - taken, taken)
    return owners, firsts[owners] + within * lengths[owners] // taken[owners]


def first_of_each(ordered: NDArray[np.integer]) -> Mask:
    """A mask of the first occurrence of each value in ascending numbers."""
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


# A matrix times a vector, computed row by row.


Number = TypeVar("Number", np.float32, np.float64)


def row_products(rows: NDArray[Number], vector: NDArray[Number]) -> NDArray[Number]:
    """The inner product of each row with `vector`. Not computed by `@`, which sums the last rows in a
    different order: equal rows must get equal scores."""
    found: NDArray[Number] = np.einsum("ij,j->i", rows, vector)
    return found


# The unit vectors that the index stores.


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divides each row by its length; an all-zero row is unchanged."""
    lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    lengths[lengths == 0] = 1
    unit: NDArray[np.float32] = vectors / lengths
    return unit
