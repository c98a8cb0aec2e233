"""The best division of a sequence of embedded segments into chunks, found by dynamic programming.

The idea is that of the ClusterSemanticChunker in Chroma's report "Evaluating Chunking Strategies for
Retrieval" (2024): of all divisions take the one whose chunks hold together best, instead of splitting
wherever two neighbours differ. Here a chunk is worth the length of the sum of its segments' vectors, each
weighted by the characters it stands for:

    worth = |Σ lengthᵢ · vectorᵢ| = sqrt(Σᵢⱼ lengthᵢ lengthⱼ cos(i, j))

that is how many characters of it speak of one thing. Joining never adds to that, so every chunk has a
price, and a border inside a paragraph costs extra. Similarities are needed only between segments that may
share a chunk: time and memory grow with the note, not with its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Floats32


# Chosen on benchmarks/chunking.py: with these, recall and IoU are ahead of the other libraries' splitters
# from 100 to 400 tokens a chunk. Both are in characters; the price is that at a limit of 1,000.
_PRICE = 52.0
_PRICE_GROWTH = 1.2
_CUT_PARAGRAPH = 150.0


def best_division(vectors: Floats32, lengths: Sequence[int], opens: Sequence[bool], limit: int) -> list[int]:
    """The index of the first segment of each chunk, and at the end the number of segments.

    `vectors` are unit vectors, shape (segments, dimension); `opens` says which segments begin a
    paragraph. No chunk is longer than `limit` characters, unless one segment is.
    """
    count = len(lengths)
    ends = np.cumsum(lengths)
    # The earliest segment that may share a chunk with each.
    earliest = np.minimum(np.searchsorted(ends - lengths, ends - limit, side="left"), np.arange(count))
    worth = _worths(vectors, lengths, int((np.arange(count) - earliest).max()) + 1)
    cost = _PRICE * (limit / 1000) ** _PRICE_GROWTH + np.where(opens, 0.0, _CUT_PARAGRAPH)
    best = np.zeros(count + 1)
    begins = np.zeros(count, dtype=np.int64)
    for last in range(count):
        first = int(earliest[last])
        # A chunk of d segments that ends with `last` has its worth in worth[last, d - 1].
        values = best[first : last + 1] - cost[first : last + 1] + worth[last, : last - first + 1][::-1]
        choice = int(values.argmax())
        begins[last] = first + choice
        best[last + 1] = values[choice]
    found = [count]
    while found[-1] > 0:
        found.append(int(begins[found[-1] - 1]))
    return found[::-1]


def _worths(vectors: Floats32, lengths: Sequence[int], widest: int) -> Floats:
    """For each segment and each d below `widest`: the worth of the d + 1 segments that it ends."""
    count = len(lengths)
    weighted = vectors * np.asarray(lengths, dtype=np.float32)[:, None]
    squares = np.einsum("ij,ij->i", weighted, weighted).astype(np.float64)
    worths = np.zeros((count, widest))
    worths[:, 0] = np.sqrt(squares)
    # Of the chunk of d + 1 segments from i on: its squared worth, and what its last one adds to it in pairs.
    squared, pairs = squares, np.zeros(count)
    for d in range(1, widest):
        pairs = np.einsum("ij,ij->i", weighted[:-d], weighted[d:]) + pairs[1 : count - d + 1]
        squared = squared[: count - d] + squares[d:] + 2 * pairs
        worths[d:, d] = np.sqrt(np.maximum(squared, 0.0))
    return worths
