"""Postings of terms over all segments of a snapshot, and sums of such lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Bytes, Floats32, Keys, Mask, first_of_each
from vault_indexer.store.keywords.schema import FIELDS
from vault_indexer.store.keywords.whoosh_segment import Counts, Ints, Postings
from vault_indexer.system import LruCache

_DENSE = 4
"""Lists that together contain more than a quarter of all documents are summed in an array of all
documents."""


class Segment(Protocol):
    """A part of a keyword index: numbered documents and their terms."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def field_totals(self) -> Mapping[str, int]: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def longest_words(self) -> Mapping[str, Ints]:
        """For each field, the documents with a word that may be truncated."""
        ...

    def postings(self, field: str, term: str) -> Postings | None:
        """The term's postings in the field, or None if it does not occur."""
        ...

    def length_codes(self, field: str) -> Bytes:
        """The length of the field by document number, as indices into `stored_lengths`."""
        ...


class LiveSegment(NamedTuple):
    """A segment with a mask of the documents that still exist in this snapshot."""

    data: Segment
    live: Mask


class Sparse(NamedTuple):
    """Values by position in the snapshot; positions are distinct and ascend."""

    positions: Ints
    values: Floats32

    @property
    def nbytes(self) -> int:
        return self.positions.nbytes + self.values.nbytes

    @property
    def is_empty(self) -> bool:
        return not len(self.positions)

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds factor * value at every position. Returns the maximum excess of the sums, which is 0."""
        totals[self.positions] += self.values * np.float32(factor)
        return 0.0

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        """The values at the given positions, 0 where there is none."""
        return _or_zeros(_values_at(self.positions, self.values, wanted), len(wanted))

    def holds(self, wanted: NDArray[np.integer]) -> Mask:
        return self.at(wanted) > 0

    def ready_to_add(self, size: int) -> Sparse | Dense:
        """Converts many values to an array over all `size` positions, which is many times faster to add and
        takes at most twice the bytes. Few values are returned unchanged."""
        if self.is_empty or len(self.positions) * _DENSE < size:
            return self
        values = np.zeros(size, np.float32)
        values[self.positions] = self.values
        return Dense(values)


class Dense(NamedTuple):
    """A value for every position in the snapshot; some are above 0."""

    values: Floats32

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    @property
    def is_empty(self) -> bool:
        return False

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds factor * value at every position. Returns the maximum excess of the sums, which is 0."""
        totals += self.values * np.float32(factor)
        return 0.0

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        found: Floats32 = self.values[wanted]
        return found

    def holds(self, wanted: NDArray[np.integer]) -> Mask:
        held: Mask = self.values[wanted] > 0
        return held


class Occurrences(NamedTuple):
    """The occurrences of one term in one field: ascending positions, each with the term frequency."""

    positions: Ints
    frequencies: Counts

    @property
    def nbytes(self) -> int:
        return self.positions.nbytes + self.frequencies.nbytes

    def weighted(self, weight: float = 1.0) -> Sparse:
        """The frequencies times `weight`."""
        values = self.frequencies.astype(np.float32)
        return Sparse(self.positions, values if weight == 1.0 else values * np.float32(weight))

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        """The frequencies at the given positions, 0 where the term does not occur."""
        return _or_zeros(self.at_some(wanted), len(wanted))

    def at_some(self, wanted: NDArray[np.integer]) -> Floats32 | None:
        """Like `at`, but None if the term occurs at none of the given positions."""
        return _values_at(self.positions, self.frequencies, wanted)


ByField = tuple["Occurrences | None", ...]


class KeptPostings(NamedTuple):
    """The cached occurrences of a term in each of `FIELDS`, in consecutive segments with these names."""

    segments: tuple[str, ...]
    fields: ByField

    @property
    def nbytes(self) -> int:
        return sum(field.nbytes for field in self.fields if field is not None)


PostingsCache = LruCache[str, KeptPostings]


class TermPostings:
    """The occurrences of terms. A position numbers the documents of all segments consecutively, including
    deleted ones.

    `cache` outlives the snapshot. A commit changes the last segments, so the part of a cached value for the
    first segments that both snapshots share is reused, and only the others are read.
    """

    def __init__(self, segments: Sequence[LiveSegment], cache: PostingsCache) -> None:
        self._segments = [segment.data for segment in segments]
        self._names = tuple(data.name for data in self._segments)
        self._cache = cache
        sizes = [data.size for data in self._segments]
        self.bases = [sum(sizes[:number]) for number in range(len(sizes) + 1)]

    def of(self, term: str) -> ByField:
        """Term frequencies by document, for each of `FIELDS`; None for a field without the term."""
        kept = self._cache.peek(term)
        if kept is None or kept.segments != self._names:
            kept = self._cache.put(term, KeptPostings(self._names, self._read(term, kept)))
        return kept.fields

    def contain_any(self, positions: Ints, terms: Iterable[str], fields: Sequence[int]) -> Mask:
        """Marks the positions whose documents contain any of the terms in any of the fields (by number)."""
        held = np.zeros(len(positions), bool)
        for term in terms:
            by_field = self.of(term)
            for occurrences in (by_field[field] for field in fields):
                if occurrences is not None:
                    held |= occurrences.at(positions) > 0
        return held

    def frequencies(self, term: str) -> Iterator[int]:
        """For each of `FIELDS`, the number of documents that contain the term (including deleted ones)."""
        return (0 if one is None else len(one.positions) for one in self.of(term))

    def _read(self, term: str, kept: KeptPostings | None) -> ByField:
        shared = _length_of_common_start(kept.segments, self._names) if kept is not None else 0
        fields: list[Occurrences | None] = []
        for field, name in enumerate(FIELDS):
            parts = [] if kept is None else _before(self.bases[shared], kept.fields[field])
            for data, base in zip(self._segments[shared:], self.bases[shared:], strict=False):
                found = data.postings(name, term)
                if found is not None:
                    parts.append(Occurrences(found.documents + np.int32(base), found.frequencies))
            fields.append(_joined(parts))
        return tuple(fields)


def _length_of_common_start(some: Sequence[str], others: Sequence[str]) -> int:
    differ = (at for at, (one, other) in enumerate(zip(some, others, strict=False)) if one != other)
    return next(differ, min(len(some), len(others)))


def _before(end: int, found: Occurrences | None) -> list[Occurrences]:
    if found is None:
        return []
    count = int(found.positions.searchsorted(end))
    return [Occurrences(found.positions[:count], found.frequencies[:count])] if count else []


def _joined(parts: Sequence[Occurrences]) -> Occurrences | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return Occurrences(
        np.concatenate([part.positions for part in parts]), np.concatenate([one.frequencies for one in parts])
    )


def combine(parts: Sequence[Sparse], size: int, how: np.ufunc) -> Sparse:
    """Combines values of equal position with `how` (`np.add` or `np.maximum`; values are not negative).
    `size` is the number of all documents."""
    parts = [part for part in parts if len(part.positions)]
    if len(parts) < 2:
        return parts[0] if parts else Sparse(np.empty(0, np.int32), np.empty(0, np.float32))
    if sums_in_order([len(part.positions) for part in parts], size):
        dense = np.zeros(size, np.float32)
        for part in parts:
            dense[part.positions] = how(dense[part.positions], part.values)
        positions = np.flatnonzero(dense > 0).astype(np.int32)
        return Sparse(positions, dense[positions])
    positions = np.concatenate([part.positions for part in parts])
    # Stable: equal positions are summed in the order of the lists, which `sum_at` repeats.
    order = positions.argsort(kind="stable")
    positions = positions[order]
    first = np.flatnonzero(first_of_each(positions))
    values = np.concatenate([part.values for part in parts])[order]
    return Sparse(positions[first], how.reduceat(values, first))


def sums_in_order(lengths: Sequence[int], size: int) -> bool:
    """Whether `combine` adds lists of these lengths one after the other. Otherwise it adds the first value of
    a position to the sum of its others, and the last bit may differ."""
    return sum(lengths) * _DENSE > size


def sum_at(values: Sequence[Floats32], count: int, *, in_order: bool) -> Floats32:
    """Repeats the sums of `combine`, to the last bit, at `count` positions. `values` contains those of each
    list at these positions, 0 where it has none; there are at most `MOST_SUMMED` lists."""
    if len(values) == 1:
        return values[0]
    first = np.zeros(count, np.float32)
    if in_order or len(values) == 2:
        for own in values:
            first += own
        return first
    others = np.zeros(count, np.float32)
    for own in values:
        others += np.where(first > 0, own, 0)
        first = np.where(first > 0, first, own)
    return first + others


MOST_SUMMED = 8
"""NumPy adds up to seven numbers to a first one sequentially, and more of them in another order."""


def _values_at(positions: Ints, values: NDArray[np.generic], wanted: NDArray[np.integer]) -> Floats32 | None:
    """The values at the given positions, 0 where there is none; None if there are none at all."""
    if not len(positions):
        return None
    # With another type, each search would convert all positions.
    wanted = wanted.astype(positions.dtype, copy=False)
    index = positions.searchsorted(wanted)
    missing = positions.take(index, mode="clip") != wanted
    if np.count_nonzero(missing) == len(wanted):
        return None
    found: Floats32 = values.take(index, mode="clip").astype(np.float32, copy=False)
    found[missing] = 0
    return found


def _or_zeros(found: Floats32 | None, count: int) -> Floats32:
    return np.zeros(count, np.float32) if found is None else found
