"""The mean vector of each note of a base: what the whole note is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.store.ranges import first_of_each
from vault_indexer.store.vectors.faiss_rows import exact_products

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys, Matrix

_BATCH = 8192


class NoteMeans:
    """The mean of the vectors of each note, at length 1, in float16: a fifth of what the vectors take where a
    note has five chunks. It never changes; any thread may read it.

    `vectors` is a FAISS index whose rows have the chunk keys `keys` (ascending).
    """

    def __init__(self, vectors: Any, keys: Keys) -> None:
        self._notes, owners = np.unique(keys >> CHUNK_KEY_BITS, return_inverse=True)
        sums = np.zeros((len(self._notes), vectors.d), np.float32)
        for start in range(0, len(keys), _BATCH):
            batch = vectors.reconstruct_n(start, min(_BATCH, len(keys) - start))
            own = owners[start : start + len(batch)]
            first = np.flatnonzero(first_of_each(own))
            sums[own[first]] += np.add.reduceat(batch, first, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        self._means = (sums / np.maximum(lengths, np.finfo(np.float32).tiny)[:, None]).astype(np.float16)

    def scores(self, query: Matrix, notes: Keys) -> Matrix:
        """The cosine of each of the notes with `query`; NaN for one that is not here."""
        found = np.full(len(notes), np.nan, np.float32)
        if len(self._notes):
            at = self._notes.searchsorted(notes)
            at[at == len(self._notes)] = 0
            held = self._notes[at] == notes
            found[held] = exact_products(self._means, at[held], query)
        return found
