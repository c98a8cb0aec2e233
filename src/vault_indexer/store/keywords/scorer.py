"""BM25F scores of query terms under one set of weights, cached for the life of the snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Bytes, Floats32, Keys, Mask
from vault_indexer.store.keywords.postings import (
    MOST_SUMMED,
    Dense,
    KeptPostings,
    LiveSegment,
    Occurrences,
    Sparse,
    TermPostings,
    combine,
    sum_at,
    sums_in_order,
)
from vault_indexer.store.keywords.schema import FIELDS, FieldWeights
from vault_indexer.store.keywords.whoosh_segment import stored_lengths
from vault_indexer.system import LruCache, record
from vault_indexer.text.terms import TermClass

Positions = NDArray[np.intp]


# BM25F as Whoosh's scorer computes it, over arrays instead of one posting at a time.
#
# The score of a term t in field f of document d, with idf(f, t) as ln(N / (df + 1)) + 1, is
# idf(f, t) x tf x (k1 + 1) / (tf + k1 x ((1 - b_f) + b_f x len(d, f) / avglen(f))) x boost_f,
# summed over fields. N, df and avglen count deleted documents until a merge drops them, and lengths are
# stored in Whoosh's 256 steps, so the scores are Whoosh's own (`whoosh.scoring.BM25F`).


_HALVINGS = 5
"""Before all scores are scanned, those above 1/2 to 1/32 of the best are counted, which takes a tenth of the
time. A rule of thumb."""


@record
class Ranking:
    """Hits, best first; equal scores are ordered by key. Both arrays have one entry per hit."""

    keys: Keys
    scores: Floats32

    def __len__(self) -> int:
        return len(self.keys)


def inverse_document_frequency(document_count: int, document_frequency: int) -> float:
    """Whoosh's variant: never negative, and 1 for a term in every document."""
    return math.log(document_count / (document_frequency + 1)) + 1


def length_norms(lengths: Floats32, average: float, b: float, k1: float) -> Floats32:
    """k1 * ((1 - b) + b * length / average), by document."""
    norms: Floats32 = lengths * (k1 * b / (average or 1.0)) + k1 * (1 - b)
    return norms


def saturate(frequencies: Floats32, norms: Floats32, k1: float) -> Floats32:
    """tf * (k1 + 1) / (tf + norm): the saturated term frequency in a field of that length."""
    worth: Floats32 = frequencies * (k1 + 1) / (frequencies + norms)
    return worth


def best(scores: Floats32, keys: Keys, k: int) -> Ranking:
    """The `k` best documents with a positive score; `scores` and `keys` are by document."""
    found = best_positions(scores, k)
    if len(found) > k:
        candidates = scores[found]
        threshold = np.partition(candidates, len(candidates) - k)[len(candidates) - k]
        # All that are equal to the threshold stay, so that their keys decide.
        found = found[candidates >= threshold]
    found = found[np.lexsort((keys[found], -scores[found]))][:k]
    return Ranking(keys[found], scores[found])


def best_positions(scores: Floats32, k: int) -> NDArray[np.intp]:
    """The positions of the `k` best positive scores, ascending, possibly with some others: few, if the best
    are clearly above the rest."""
    if k <= 0:
        return np.empty(0, np.intp)
    cut = scores.max(initial=0)
    for _ in range(_HALVINGS):
        cut /= 2
        high = scores > cut
        if np.count_nonzero(high) >= k:
            return np.flatnonzero(high)
    return np.flatnonzero(scores > 0)


_OVERHEAD = 400
"""The overhead of a cache entry, without its arrays, in bytes: key, tuple and array headers."""

_USUAL_DOCUMENTS = 100_000
_MOST_TIMES = 4


def entry_bytes(value: KeptPostings | Sparse | Dense | RoundedScores) -> int:
    """The bytes of a cache entry."""
    return value.nbytes + _OVERHEAD


def limit_for(limit: int, documents: int) -> int:
    """Scales a limit for an index of 100,000 documents to one of `documents`, because lists of postings grow
    with them. At most four times the limit."""
    return int(limit * min(_MOST_TIMES, max(1.0, documents / _USUAL_DOCUMENTS)))


# Scores of a common word in one byte per document, for a first pass over very many documents.
#
# A score s is stored as the integer c of steps with c - 1 < s / step <= c. So the sum of such numbers is at
# least the exact score of a document, and at most one step per word above it: a document further below the
# k-th best sum than that is not among the k best. The exact scores of the few remaining ones are looked up.
# For 843,000 chunks this takes an eighth of the memory of exact scores and their positions.


_STEPS = 254
"""The best score has this number of steps. Rounded up it fits a byte despite the rounding of the division."""

_BLOCK = 1 << 16
"""The number of documents summed at once: their values fit the processor's cache."""

_STEP_ROUNDING = 1.01
_SUM_ROUNDING = 1e-5
"""An upper bound of the rounding of float32: of a step by division (255 * 2^-23), and of a sum of a few dozen
words (n * 2^-24 of it)."""


class RoundedScores(NamedTuple):
    """`codes` contains the scores by position in steps of `step`, rounded up; 0 for none. `in_order` contains
    for each class of the word how its fields are summed (`postings.sums_in_order`)."""

    codes: Bytes
    step: float
    in_order: tuple[bool, ...]

    @classmethod
    def of(cls, scores: Floats32, in_order: tuple[bool, ...]) -> RoundedScores:
        """Rounds scores by position, some of which are above 0."""
        step = float(scores.max()) / _STEPS
        codes = (scores / np.float32(step)).astype(np.uint8)
        # Truncated, then one more for each positive score: never below the exact one.
        codes += scores > 0
        return cls(codes, step, in_order)

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes

    @property
    def is_empty(self) -> bool:
        return False

    def add_to(self, totals: Floats32, factor: float) -> float:
        """Adds about factor * score at every position. Returns the maximum excess of the sums."""
        worth = np.float32(self.step * factor)
        for start in range(0, len(totals), _BLOCK):
            block = slice(start, start + _BLOCK)
            totals[block] += self.codes[block] * worth
        return self.step * factor

    def holds(self, positions: NDArray[np.integer]) -> Mask:
        held: Mask = self.codes[positions] > 0
        return held


def may_be_best(sums: Floats32, k: int, too_high: float) -> Positions:
    """Positions, ascending, of all documents that may be among the k best, if each sum is at least the exact
    one and at most `too_high` above it."""
    found = best_positions(sums, k)
    if len(found) < max(k, 1):
        return found
    least = float(np.partition(sums[found], len(found) - k)[len(found) - k])
    bound = least * (1 - _SUM_ROUNDING) - too_high * _STEP_ROUNDING
    return np.flatnonzero(sums > max(bound, 0.0))


_WORD_BYTES = 64 << 20
_BOOSTS = 4096

_LONG = 8
"""Above one eighth of all documents, posting lists take more space than a byte per document."""

ROUNDED_FROM = 250_000
"""From this number of documents on, scores of common words are rounded. In a smaller index, the exact scores
of all words in use fit in memory, and a scan of them is faster."""

Classes = tuple[TermClass, ...]


class WordScores:
    """The scores of words in the documents of `segments` (`live` marks those that are not deleted).

    `postings` belongs to the same segments. Thread-safe. A word's score is the best of its classes, not their
    sum. From `rounded_from` documents on, scores of common words are stored rounded.
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
        # For each field, the index into `stored_lengths` by position, and the norm of each length.
        self._lengths: dict[int, tuple[Bytes, Floats32]] = {}
        # A word is scored once, but each search needs its shares.
        self._boosts = lru_cache(maxsize=_BOOSTS)(partial(_find_boosts, postings, weights, len(live)))
        self._words: LruCache[Classes, Sparse | Dense | RoundedScores] = LruCache(
            limit_for(_WORD_BYTES, len(live)), entry_bytes
        )

    def add_to(self, totals: Floats32, classes: Classes, factor: float) -> float:
        """Adds factor * score at the position of every document. Returns the maximum excess of the sums: 0 if
        the scores are exact."""
        return self._of(classes).add_to(totals, factor)

    def at(self, classes: Classes, positions: NDArray[np.integer]) -> Floats32:
        """The exact scores at the positions (of live documents); 0 for a document without the word."""
        scored = self._of(classes)
        if not isinstance(scored, RoundedScores):
            return scored.at(positions)
        scores = np.zeros(len(positions), np.float32)
        held = np.flatnonzero(scored.holds(positions))
        scores[held] = self._look_up(classes, scored.in_order, positions[held])
        return scores

    def holds(self, classes: Classes, positions: NDArray[np.integer]) -> Mask:
        return self._of(classes).holds(positions)

    def knows(self, classes: Classes) -> bool:
        return not self._of(classes).is_empty

    def load(self, classes: Classes) -> None:
        self._of(classes)

    def shares(self, one: TermClass, positions: NDArray[np.integer]) -> list[dict[str, float]]:
        """The score of a class by field, for each of the positions (of live documents)."""
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
        lists = [
            [self._score(self._pool(each), each.field, each.boost) for each in self._fields_of(one)]
            for one in classes
        ]
        lengths = [[len(part.positions) for part in parts] for parts in lists]
        # Only long lists save memory by rounding, and their exact scores must be available by look-up: not
        # for a prefix shared by many words.
        is_long = max(map(sum, lengths), default=0) * _LONG > self._size
        if self._rounds and is_long and all(len(one.variants) <= MOST_SUMMED for one in classes):
            in_order = tuple(sums_in_order(length, self._size) for length in lengths)
            return RoundedScores.of(self._dense(lists), in_order)
        scores = [combine(parts, self._size, np.add) for parts in lists]
        return combine(scores, self._size, np.maximum).ready_to_add(self._size)

    def _dense(self, lists: Sequence[Sequence[Sparse]]) -> Floats32:
        """The best of the classes by position; `lists` contains the scores by field of each. The last bit may
        differ from that of `combine`."""
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
        """The scores at some positions, identical to the last bit to those that `combine` computes for
        all."""
        best = np.zeros(len(positions), np.float32)
        for one, each in zip(classes, in_order, strict=True):
            if scores := self._fields_at(one, positions):
                np.maximum(best, sum_at(scores, len(positions), in_order=each), out=best)
        return best

    def _fields_at(self, one: TermClass, positions: NDArray[np.integer]) -> list[Floats32]:
        """The results of `_score` at the positions, for each field with a weight."""
        scores = []
        for each in self._fields_of(one):
            pooled = np.zeros(len(positions), np.float32)
            if each.variants:
                # The order of the sum must be that of `_pool`, so it is derived from the same lengths.
                lengths = [len(found.positions) for found, _ in each.variants]
                weighted = [found.at(positions) * np.float32(weight) for found, weight in each.variants]
                pooled = sum_at(weighted, len(positions), in_order=sums_in_order(lengths, self._size))
            if each.exact is not None:
                pooled = np.maximum(pooled, each.exact.at(positions))
            norms = self._norms(each.field, positions)
            scores.append(saturate(pooled, norms, self._weights.k1) * np.float32(each.boost))
        return scores

    def _fields_of(self, one: TermClass) -> Iterator[_FieldOfClass]:
        exact = self._postings.of(one.exact)
        variants = [(self._postings.of(term), weight) for term, weight in one.variants]
        for field, boost in self._boosts(one):
            others = [(found, weight) for held, weight in variants if (found := held[field]) is not None]
            yield _FieldOfClass(field, boost, exact[field], others)

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
        if field not in self._lengths:
            name = FIELDS[field]
            codes = np.concatenate([segment.data.length_codes(name) for segment in self._segments])
            total = sum(segment.data.field_totals[name] for segment in self._segments)
            average, b = total / (self._size or 1), self._weights.of(name).b
            lengths = stored_lengths().astype(np.float32)
            self._lengths[field] = codes, length_norms(lengths, average, b, self._weights.k1)
        codes, norms = self._lengths[field]
        found: Floats32 = norms[codes[positions]]
        return found


def _find_boosts(
    postings: TermPostings, weights: FieldWeights, size: int, one: TermClass
) -> tuple[tuple[int, float], ...]:
    """The fields that contain any term of the class and have a weight, each with the factor of a saturated
    occurrence: boost, rarity and the weight of the class."""
    found: list[tuple[int, float]] = []
    frequencies = zip(*map(postings.frequencies, one.terms), strict=True)
    for field, frequency in enumerate(map(max, frequencies)):
        boost = weights.of(FIELDS[field]).boost * one.weight
        if frequency and boost:
            found.append((field, boost * inverse_document_frequency(size, frequency)))
    return tuple(found)


class _FieldOfClass(NamedTuple):
    """The exact term of a class and its variants that occur in one field, with their weights.

    The term frequency of the class is max(exact, weighted sum of the variants). Three functions compute it:
    `_pool` for all documents, `_fields_at` for some positions, `_pool_at` for the hits that are explained.
    They are separate because the last bit of a sum depends on the order of its parts. `combine` chooses the
    order that is fastest for all documents. `_fields_at` repeats it, since a score that is looked up must
    equal the one of a full pass. `_pool_at` adds in the plain order, which is exact enough for display.
    """

    field: int
    boost: float
    exact: Occurrences | None
    variants: Sequence[tuple[Occurrences, float]]


def _pool_at(positions: NDArray[np.integer], held: _FieldOfClass) -> Floats32 | None:
    """The result of `WordScores._pool` for these positions, except for the last bit; None if that is empty,
    as for most fields."""
    pooled: Floats32 | None = None
    for found, weight in held.variants:
        if (values := found.at_some(positions)) is not None:
            weighted = values * np.float32(weight)
            pooled = weighted if pooled is None else pooled + weighted
    if held.exact is not None and (values := held.exact.at_some(positions)) is not None:
        return values if pooled is None else np.maximum(pooled, values)
    return pooled
