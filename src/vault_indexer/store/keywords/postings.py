"""Postings of terms over all segments of a snapshot, and sums of such lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from vault_indexer.arrays import first_of_each
from vault_indexer.store.keywords.schema import FIELDS
from vault_indexer.system import LruCache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Bytes, Floats32, Keys, Mask
    from vault_indexer.store.keywords.whoosh_segment import Counts, Ints, Postings

_DENSE = 4
"""Lists that together hold more than a fourth of all documents are summed in an array of all documents."""


class Segment(Protocol):
    """A part of a keyword index: documents by number, and what each of them holds."""

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
        """For each field the documents with a word that may be cut off."""
        ...

    def postings(self, field: str, term: str) -> Postings | None:
        """The term's postings in the field; None where it does not occur."""
        ...

    def length_codes(self, field: str) -> Bytes:
        """The length of the field by document number, as numbers of `stored_lengths`."""
        ...


class LiveSegment(NamedTuple):
    """A segment with the documents that this snapshot still has."""

    data: Segment
    live: Mask


class Sparse(NamedTuple):
    """Values by position in the snapshot; positions ascend, each is there once."""

    positions: Ints
    values: Floats32

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.positions.nbytes + self.values.nbytes

    @property
    def is_empty(self) -> bool:
        """Whether there is no value at all."""
        return not len(self.positions)

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds factor * value at every position. Returns by how much that may be too high: 0."""
        totals[self.positions] += self.values * np.float32(factor)
        return 0.0

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        """The values at the wanted positions, 0 where there is none."""
        return _or_zeros(_values_at(self.positions, self.values, wanted), len(wanted))

    def holds(self, wanted: NDArray[np.integer]) -> Mask:
        return self.at(wanted) > 0

    def ready_to_add(self, size: int) -> Sparse | Dense:
        """The same for all `size` positions, where there are many values: to add that up is many times faster
        and it takes at most twice the bytes."""
        if self.is_empty or len(self.positions) * _DENSE < size:
            return self
        values = np.zeros(size, np.float32)
        values[self.positions] = self.values
        return Dense(values)


class Dense(NamedTuple):
    """A value, some of them above 0, for every position in the snapshot."""

    values: Floats32

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self.values.nbytes

    @property
    def is_empty(self) -> bool:
        """Whether there is no value at all."""
        return False

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds factor * value at every position. Returns by how much that may be too high: 0."""
        totals += self.values * np.float32(factor)
        return 0.0

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        found: Floats32 = self.values[wanted]
        return found

    def holds(self, wanted: NDArray[np.integer]) -> Mask:
        held: Mask = self.values[wanted] > 0
        return held


class Occurrences(NamedTuple):
    """Where one term occurs in one field: ascending positions, each with the term frequency."""

    positions: Ints
    frequencies: Counts

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.positions.nbytes + self.frequencies.nbytes

    def weighted(self, weight: float = 1.0) -> Sparse:
        """The frequencies times `weight`."""
        values = self.frequencies.astype(np.float32)
        return Sparse(self.positions, values if weight == 1.0 else values * np.float32(weight))

    def at(self, wanted: NDArray[np.integer]) -> Floats32:
        """The frequencies at the wanted positions, 0 where the term does not occur."""
        return _or_zeros(self.at_some(wanted), len(wanted))

    def at_some(self, wanted: NDArray[np.integer]) -> Floats32 | None:
        """As `at`; None where the term occurs at none of the wanted positions."""
        return _values_at(self.positions, self.frequencies, wanted)


ByField = tuple["Occurrences | None", ...]


class KeptPostings(NamedTuple):
    """What a term occurs in, for each of `FIELDS`, in segments of these names in a row."""

    segments: tuple[str, ...]
    fields: ByField

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(one.nbytes for one in self.fields if one is not None)


PostingsCache = LruCache[str, KeptPostings]


class TermPostings:
    """What each term occurs in. A position numbers the documents of all segments in a row, deleted ones too.

    `cache` outlives the snapshot. A commit changes the last segments: of what is kept from another snapshot
    the part of the first segments that both have is taken over, and only the others are read.
    """

    def __init__(self, segments: Sequence[LiveSegment], cache: PostingsCache) -> None:
        self._segments = [segment.data for segment in segments]
        self._names = tuple(data.name for data in self._segments)
        self._cache = cache
        sizes = [data.size for data in self._segments]
        self.bases = [sum(sizes[:number]) for number in range(len(sizes) + 1)]

    def of(self, term: str) -> ByField:
        """Term frequencies by document, for each of `FIELDS`; None where the term does not occur."""
        kept = self._cache.peek(term)
        if kept is None or kept.segments != self._names:
            kept = self._cache.put(term, KeptPostings(self._names, self._read(term, kept)))
        return kept.fields

    def frequencies(self, term: str) -> Iterator[int]:
        """For each of `FIELDS` how many documents hold the term (deleted ones too)."""
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
        np.concatenate([one.positions for one in parts]), np.concatenate([one.frequencies for one in parts])
    )


def nothing() -> Sparse:
    """No document at all."""
    return Sparse(np.empty(0, np.int32), np.empty(0, np.float32))


def combine(parts: Sequence[Sparse], size: int, how: np.ufunc) -> Sparse:
    """Values of equal position taken together by `how` (`np.add` or `np.maximum`; values are not negative).
    `size` is the number of all documents."""
    parts = [part for part in parts if len(part.positions)]
    if len(parts) < 2:
        return parts[0] if parts else nothing()
    if sums_in_order([len(part.positions) for part in parts], size):
        dense = np.zeros(size, np.float32)
        for part in parts:
            dense[part.positions] = how(dense[part.positions], part.values)
        positions = np.flatnonzero(dense > 0).astype(np.int32)
        return Sparse(positions, dense[positions])
    positions = np.concatenate([part.positions for part in parts])
    order = positions.argsort(kind="stable")
    positions = positions[order]
    first = np.flatnonzero(first_of_each(positions))
    values = np.concatenate([part.values for part in parts])[order]
    return Sparse(positions[first], how.reduceat(values, first))


def sums_in_order(lengths: Sequence[int], size: int) -> bool:
    """How `combine` adds up lists of these lengths: one after the other, or the first value of a position to
    the sum of its others. The last bit may differ."""
    return sum(lengths) * _DENSE > size


def sum_at(values: Sequence[Floats32], count: int, *, in_order: bool) -> Floats32:
    """What `combine` adds up to, to the last bit, at `count` positions. `values` has those of each list
    there, 0 where it has none; there are at most `MOST_SUMMED` lists."""
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
"""NumPy adds up to seven numbers behind a first one after the other, and more of them in another order."""


def _values_at(positions: Ints, values: NDArray[np.generic], wanted: NDArray[np.integer]) -> Floats32 | None:
    """The values at the wanted positions, 0 where there is none; None where there is none at all."""
    if not len(positions):
        return None
    # Of another type, all positions would be converted for each search among them.
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
