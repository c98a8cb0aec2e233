"""Postings of terms over all segments of a snapshot, and sums of such lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.store.keywords.byte_cache import ByteCache, limit_for
from vault_indexer.store.keywords.schema import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.store.keywords.segment_reader import Floats, Ints, Mask, Postings, SegmentData

_MERGED_BYTES = 64 << 20
_DENSE = 4
"""Lists that together hold more than a fourth of all documents are summed in an array of all documents."""

FieldPostings = tuple["Postings | None", ...]
PostingsCache = ByteCache[tuple[str, str], FieldPostings]


class LiveSegment(NamedTuple):
    """A segment's file with the documents that this snapshot still has."""

    data: SegmentData
    live: Mask


class Sparse(NamedTuple):
    """Values by position in the snapshot; positions ascend, each is there once. Where they are many, `dense`
    has the same values for all positions: adding that up is many times faster."""

    positions: Ints
    values: Floats
    dense: Floats | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(one.nbytes for one in self if one is not None)

    def add_to(self, totals: Floats, factor: np.float32) -> None:
        """Adds factor * value at every position."""
        if self.dense is None:
            totals[self.positions] += self.values * factor
        else:
            totals += self.dense * factor

    def ready_to_add(self, size: int) -> Sparse:
        """With `dense`, if that is worth its bytes."""
        if len(self.positions) * _DENSE < size:
            return self
        dense = np.zeros(size, np.float32)
        dense[self.positions] = self.values
        return self._replace(dense=dense)


Merged = tuple["Sparse | None", ...]


class TermPostings:
    """What each term occurs in. A position numbers the documents of all segments in a row, deleted ones too.

    `cache` holds the postings of segments, which outlive snapshots; what they come to together is kept here.
    """

    def __init__(self, segments: Sequence[LiveSegment], cache: PostingsCache) -> None:
        self._segments = [segment.data for segment in segments]
        self._cache = cache
        sizes = [data.size for data in self._segments]
        self.bases = [sum(sizes[:number]) for number in range(len(sizes))]
        self._merged: ByteCache[str, Merged] = ByteCache(
            limit_for(_MERGED_BYTES, sum(sizes)),
            lambda merged: sum(one.nbytes for one in merged if one is not None),
        )

    def of(self, term: str) -> Merged:
        """Term frequencies by document, for each of `FIELDS`; None where the term does not occur."""
        return self._merged.get(term, lambda: self._merge(term))

    def frequencies(self, term: str) -> Iterator[int]:
        """For each of `FIELDS` how many documents hold the term (deleted ones too)."""
        return (0 if one is None else len(one.positions) for one in self.of(term))

    def _merge(self, term: str) -> Merged:
        parts = [
            (self._cache.get((data.name, term), partial(_read, data, term)), np.int32(base))
            for data, base in zip(self._segments, self.bases, strict=True)
        ]
        merged: list[Sparse | None] = []
        for field in range(len(FIELDS)):
            held = [(found, base) for fields, base in parts if (found := fields[field]) is not None]
            if not held:
                merged.append(None)
            elif len(held) == 1 and not held[0][1]:
                merged.append(Sparse(held[0][0].documents, held[0][0].frequencies))
            else:
                positions = np.concatenate([found.documents + base for found, base in held])
                merged.append(Sparse(positions, np.concatenate([found.frequencies for found, _ in held])))
        return tuple(merged)


def _read(data: SegmentData, term: str) -> FieldPostings:
    return tuple(data.postings(field, term) for field in FIELDS)


def nothing() -> Sparse:
    """No document at all."""
    return Sparse(np.empty(0, np.int32), np.empty(0, np.float32))


def combine(parts: Sequence[Sparse], size: int, how: np.ufunc) -> Sparse:
    """Values of equal position taken together by `how` (`np.add` or `np.maximum`; values are not negative).
    `size` is the number of all documents."""
    parts = [part for part in parts if len(part.positions)]
    if len(parts) < 2:
        return parts[0] if parts else nothing()
    if sum(len(part.positions) for part in parts) * _DENSE > size:
        dense = np.zeros(size, np.float32)
        for part in parts:
            dense[part.positions] = how(dense[part.positions], part.values)
        positions = np.flatnonzero(dense).astype(np.int32)
        return Sparse(positions, dense[positions])
    positions = np.concatenate([part.positions for part in parts])
    order = positions.argsort(kind="stable")
    positions = positions[order]
    first = np.flatnonzero(first_of_each(positions))
    values = np.concatenate([part.values for part in parts])[order]
    return Sparse(positions[first], how.reduceat(values, first))


def first_of_each(ordered: NDArray[np.integer]) -> Mask:
    """Of ascending numbers, where each stands for the first time."""
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def at(sparse: Sparse, wanted: NDArray[np.integer]) -> Floats:
    """The values at the wanted positions, 0 where there is none."""
    if sparse.dense is not None:
        dense: Floats = sparse.dense[wanted]
        return dense
    positions = sparse.positions
    if not len(positions):
        return np.zeros(len(wanted), np.float32)
    # Of another type, all positions would be converted for each search among them.
    wanted = wanted.astype(positions.dtype, copy=False)
    index = positions.searchsorted(wanted)
    found: Floats = sparse.values.take(index, mode="clip")
    found[positions.take(index, mode="clip") != wanted] = 0
    return found


def at_some(sparse: Sparse, wanted: NDArray[np.integer]) -> Floats | None:
    """As `at` for a list that is not empty and has no `dense`; None where no position has a value."""
    positions = sparse.positions
    index = positions.searchsorted(wanted)
    missing = positions.take(index, mode="clip") != wanted
    if np.count_nonzero(missing) == len(wanted):
        return None
    found: Floats = sparse.values.take(index, mode="clip")
    found[missing] = 0
    return found
