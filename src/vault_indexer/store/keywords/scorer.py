"""BM25F scores of query terms under one set of weights, kept as long as the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.store.keywords.bm25f import inverse_document_frequency, length_norms, saturate
from vault_indexer.store.keywords.cache_sizes import entry_bytes, limit_for
from vault_indexer.store.keywords.postings import (
    MOST_SUMMED,
    Dense,
    LiveSegment,
    Occurrences,
    Sparse,
    TermPostings,
    combine,
    sum_at,
    sums_in_order,
)
from vault_indexer.store.keywords.rounded_scores import RoundedScores
from vault_indexer.store.keywords.schema import FIELDS, FieldWeights
from vault_indexer.store.keywords.segment_reader import stored_lengths
from vault_indexer.system import LruCache
from vault_indexer.text.terms import TermClass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Bytes, Floats32, Mask

_WORD_BYTES = 64 << 20
_BOOSTS = 4096

_LONG = 8
"""Above one eighth of all documents, posting lists take more space than a byte per document."""

ROUNDED_FROM = 250_000
"""From this number of documents on scores of common words are rounded. With fewer the exact ones of all words
that are in use are in memory, and a look at them is quicker."""

Classes = tuple[TermClass, ...]


class WordScores:
    """What words are worth in the documents of `segments` (`live` marks those that are not deleted).

    `postings` are of the same segments. Thread-safe. A word's score is, of its classes, the best: not the
    sum. In an index of `rounded_from` documents those of common words are kept rounded.
    """

    def __init__(
        self,
        segments: Sequence[LiveSegment],
        live: Mask,
        postings: TermPostings,
        weights: FieldWeights,
        rounded_from: int,
    ) -> None:
        self._segments = segments
        self._size = len(live)
        self._live = None if live.all() else live
        self._postings = postings
        self._weights = weights
        self._rounds = len(live) >= rounded_from
        self._lengths: dict[int, _FieldLengths] = {}
        # A word is scored once, but its shares are asked for by each search.
        self._boosts = lru_cache(maxsize=_BOOSTS)(self._find_boosts)
        self._words: LruCache[Classes, Sparse | Dense | RoundedScores] = LruCache(
            limit_for(_WORD_BYTES, len(live)), entry_bytes
        )

    def add_to(self, totals: Floats32, classes: Classes, factor: float) -> float:
        """Adds factor * score at the position of every document. Returns by how much that may be too high: 0
        where the scores are exact."""
        return self._of(classes).add_to(totals, factor)

    def at(self, classes: Classes, positions: NDArray[np.integer]) -> Floats32:
        """The exact scores at the positions (of live documents), 0 for a document without the word."""
        scored = self._of(classes)
        if not isinstance(scored, RoundedScores):
            return scored.at(positions)
        scores = np.zeros(len(positions), np.float32)
        held = np.flatnonzero(scored.holds(positions))
        scores[held] = self._look_up(classes, scored.in_order, positions[held])
        return scores

    def holds(self, classes: Classes, positions: NDArray[np.integer]) -> Mask:
        """Whether the (live) documents at the positions hold the word."""
        return self._of(classes).holds(positions)

    def knows(self, classes: Classes) -> bool:
        """Whether any live document holds the word."""
        return not self._of(classes).is_empty

    def load(self, classes: Classes) -> None:
        """Have the word ready for the next question."""
        self._of(classes)

    def shares(self, one: TermClass, positions: NDArray[np.integer]) -> list[dict[str, float]]:
        """A class's score by field, for each of the positions (of live documents)."""
        found: list[dict[str, float]] = [{} for _ in positions]
        for each in self._fields_of(one):
            pooled = _pool_at(positions, each)
            if pooled is None:
                continue
            scores = saturate(pooled, self._norms(each.field, positions), self._weights.k1)
            scores *= np.float32(each.boost)
            name = FIELDS[each.field]
            for own, frequency, score in zip(found, pooled.tolist(), scores.tolist(), strict=True):
                if frequency:
                    own[name] = score
        return found

    def _of(self, classes: Classes) -> Sparse | Dense | RoundedScores:
        return self._words.get(classes, lambda: self._score_word(classes))

    def _score_word(self, classes: Classes) -> Sparse | Dense | RoundedScores:
        lists = [list(self._score_fields(one)) for one in classes]
        lengths = [[len(part.positions) for part in parts] for parts in lists]
        if self._rounds and max(map(sum, lengths), default=0) * _LONG > self._size and _is_short(classes):
            in_order = tuple(sums_in_order(one, self._size) for one in lengths)
            return RoundedScores.of(self._dense(lists), in_order)
        scores = [combine(parts, self._size, np.add) for parts in lists]
        return combine(scores, self._size, np.maximum).ready_to_add(self._size)

    def _dense(self, lists: Sequence[Sequence[Sparse]]) -> Floats32:
        """The best of the classes by position; `lists` has the scores by field of each. The last bit may be
        another than with `combine`."""
        best = np.zeros(self._size, np.float32)
        for parts in lists:
            sums = np.zeros(self._size, np.float32)
            for part in parts:
                sums[part.positions] += part.values
            np.maximum(best, sums, out=best)
        return best

    def _look_up(
        self, classes: Classes, in_order: Sequence[bool], positions: NDArray[np.integer]
    ) -> Floats32:
        """The scores at some positions, to the last bit those that `combine` computes of all."""
        best = np.zeros(len(positions), np.float32)
        for one, each in zip(classes, in_order, strict=True):
            if scores := self._fields_at(one, positions):
                np.maximum(best, sum_at(scores, len(positions), in_order=each), out=best)
        return best

    def _fields_at(self, one: TermClass, positions: NDArray[np.integer]) -> list[Floats32]:
        """What `_score` gives at the positions, for each field that counts."""
        scores = []
        for each in self._fields_of(one):
            pooled = np.zeros(len(positions), np.float32)
            if each.variants:
                lengths = [len(found.positions) for found, _ in each.variants]
                weighted = [found.at(positions) * np.float32(weight) for found, weight in each.variants]
                pooled = sum_at(weighted, len(positions), in_order=sums_in_order(lengths, self._size))
            if each.exact is not None:
                pooled = np.maximum(pooled, each.exact.at(positions))
            norms = self._norms(each.field, positions)
            scores.append(saturate(pooled, norms, self._weights.k1) * np.float32(each.boost))
        return scores

    def _score_fields(self, one: TermClass) -> Iterator[Sparse]:
        for each in self._fields_of(one):
            yield self._score(self._pool(each), each.field, each.boost)

    def _fields_of(self, one: TermClass) -> Iterator[_FieldOfClass]:
        """The fields that count, each with what it holds of a class."""
        exact = self._postings.of(one.exact)
        variants = [(self._postings.of(term), weight) for term, weight in one.variants]
        for field, boost in self._boosts(one):
            others = [(found, weight) for held, weight in variants if (found := held[field]) is not None]
            yield _FieldOfClass(field, boost, exact[field], others)

    def _find_boosts(self, one: TermClass) -> tuple[tuple[int, float], ...]:
        """The fields that hold any term of the class and count, each with what a saturated occurrence is
        worth there: boost, rarity and the weight of the class."""
        found: list[tuple[int, float]] = []
        frequencies = zip(*map(self._postings.frequencies, one.terms), strict=True)
        for field, frequency in enumerate(map(max, frequencies)):
            boost = self._weights.of(FIELDS[field]).boost * one.weight
            if frequency and boost:
                found.append((field, boost * inverse_document_frequency(self._size, frequency)))
        return tuple(found)

    def _pool(self, held: _FieldOfClass) -> Sparse:
        """Term frequencies of a class in one field: max(exact, weighted sum of its variants)."""
        pooled = combine([found.weighted(weight) for found, weight in held.variants], self._size, np.add)
        exact = [] if held.exact is None else [held.exact.weighted()]
        return combine([*exact, pooled], self._size, np.maximum)

    def _score(self, found: Sparse, field: int, boost: float) -> Sparse:
        norms = self._norms(field, found.positions)
        scores = saturate(found.values, norms, self._weights.k1) * np.float32(boost)
        if self._live is None:
            return Sparse(found.positions, scores)
        live = self._live[found.positions]
        return Sparse(found.positions[live], scores[live])

    def _norms(self, field: int, positions: NDArray[np.integer]) -> Floats32:
        """What the lengths of a field count at the positions."""
        if field not in self._lengths:
            name = FIELDS[field]
            codes = np.concatenate([segment.data.length_codes(name) for segment in self._segments])
            total = sum(segment.data.field_totals[name] for segment in self._segments)
            average, b = total / (self._size or 1), self._weights.of(name).b
            lengths = stored_lengths().astype(np.float32)
            self._lengths[field] = _FieldLengths(codes, length_norms(lengths, average, b, self._weights.k1))
        codes, norms = self._lengths[field]
        found: Floats32 = norms[codes[positions]]
        return found


class _FieldOfClass(NamedTuple):
    """What one field holds of a class: the exact term, and those variants that occur, with their weights.

    The term frequency of the class is max(exact, weighted sum of the variants). Three functions compute it:
    `_pool` for all documents, `_fields_at` for some positions, `_pool_at` for the hits that are explained.
    They stay apart, because the last bit of a sum depends on the order of its parts. `combine` chooses the
    order that is quickest for all documents. `_fields_at` repeats it, since a score that is looked up must
    be the one that a full pass gives. `_pool_at` adds up in the plain order, which is enough to be shown.
    """

    field: int
    boost: float
    exact: Occurrences | None
    variants: Sequence[tuple[Occurrences, float]]


class _FieldLengths(NamedTuple):
    """By position which of `stored_lengths` a field has, and what each of those counts."""

    codes: Bytes
    norms: Floats32


def _is_short(classes: Classes) -> bool:
    """Whether its scores can be looked up: not a beginning that many words have."""
    return all(len(one.variants) <= MOST_SUMMED for one in classes)


def _pool_at(positions: NDArray[np.integer], held: _FieldOfClass) -> Floats32 | None:
    """What `WordScores._pool` gives for these positions, but for the last bit; None where that is nothing, as
    for most fields."""
    pooled: Floats32 | None = None
    for found, weight in held.variants:
        if (values := found.at_some(positions)) is not None:
            weighted = values * np.float32(weight)
            pooled = weighted if pooled is None else pooled + weighted
    if held.exact is not None and (values := held.exact.at_some(positions)) is not None:
        return values if pooled is None else np.maximum(pooled, values)
    return pooled
