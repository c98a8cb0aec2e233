"""Where the documents of a snapshot stand, by their keys."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.store.ranges import spread_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Keys, Mask
    from vault_indexer.store.keywords.segment_reader import Ints


class KeyOrder:
    """The live documents of all segments by key. `keys` and `live` are by position.

    The first look sorts the keys, which is quick since each segment has long runs of them in order: one sort
    for all segments, instead of one look in each. It never changes; any thread may ask.
    """

    def __init__(self, keys: Keys, live: Mask) -> None:
        self._keys = keys
        self._live = live

    @cached_property
    def _ordered(self) -> tuple[Keys, Ints]:
        """The keys, ascending, each with the position of its document."""
        positions = np.flatnonzero(self._live)
        keys = self._keys[positions]
        order = keys.argsort(kind="stable")
        return keys[order], positions[order].astype(np.int32)

    @property
    def keys(self) -> Keys:
        """The keys of all live documents, ascending."""
        return self._ordered[0]

    def holds(self, keys: Keys) -> Mask:
        """Which of the keys are live."""
        ordered = self.keys
        if not len(ordered):
            return np.zeros(len(keys), bool)
        found: Mask = ordered.take(ordered.searchsorted(keys), mode="clip") == keys
        return found

    def in_order(self, documents: Mask) -> Mask:
        """A mask over positions as one over `keys`."""
        found: Mask = documents[self._ordered[1]]
        return found

    def keys_at(self, positions: Ints) -> Keys:
        """The keys of the live documents at positions, ascending, each once."""
        found: Keys = np.unique(self._keys[positions[self._live[positions]]])
        return found

    def positions_of(self, keys: Keys) -> Ints:
        """The positions of those of `keys` (distinct) that are live, in their order."""
        ordered, positions = self._ordered
        if not len(ordered):
            return positions
        at = ordered.searchsorted(keys)
        found: Ints = positions.take(at, mode="clip")[ordered.take(at, mode="clip") == keys]
        return found

    def positions_between(self, firsts: Keys, ends: Keys) -> tuple[NDArray[np.int64], Ints]:
        """The positions of ranges of keys (`firsts` inclusive, `ends` exclusive), each with the number of its
        range."""
        ordered, positions = self._ordered
        owners, found = spread_ranges(ordered.searchsorted(firsts), ordered.searchsorted(ends))
        return owners, positions[found]
