"""BM25F scores of query terms under one set of weights, kept as long as the snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.store.keywords.bm25f import inverse_document_frequency, length_norms, saturate
from vault_indexer.store.keywords.byte_cache import ByteCache, limit_for
from vault_indexer.store.keywords.postings import LiveSegment, Sparse, TermPostings, at_some, combine, nothing
from vault_indexer.store.keywords.schema import FIELDS, FieldWeights
from vault_indexer.text.terms import TermClass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.store.keywords.segment_reader import Floats, Mask

_WORD_BYTES = 48 << 20
_BOOSTS = 4096

Classes = tuple[TermClass, ...]


class WordScores:
    """What words are worth in the documents of `segments` (`live` marks those that are not deleted).

    `postings` are of the same segments. Thread-safe.
    """

    def __init__(
        self, segments: Sequence[LiveSegment], live: Mask, postings: TermPostings, weights: FieldWeights
    ) -> None:
        self._segments = segments
        self._size = len(live)
        self._live = None if live.all() else live
        self._postings = postings
        self._weights = weights
        self._norms: dict[int, Floats] = {}
        # A word is scored once, but its shares are asked for by each search.
        self._boosts = lru_cache(maxsize=_BOOSTS)(self._find_boosts)
        self._words: ByteCache[Classes, Sparse] = ByteCache(
            limit_for(_WORD_BYTES, len(live)), lambda scored: scored.nbytes
        )

    def of(self, classes: Classes) -> Sparse:
        """A word's score by document: of its classes the best, not the sum."""
        return self._words.get(classes, lambda: self._score_word(classes))

    def shares(self, one: TermClass, positions: NDArray[np.integer]) -> list[dict[str, float]]:
        """A class's score by field, for each of the positions (of live documents)."""
        found: list[dict[str, float]] = [{} for _ in positions]
        exact = self._postings.of(one.exact)
        variants = [(self._postings.of(term), np.float32(weight)) for term, weight in one.variants]
        for field, boost in self._boosts(one):
            pooled = _pool_at(positions, exact[field], [(held[field], weight) for held, weight in variants])
            if pooled is None:
                continue
            scores = saturate(pooled, self._field_norms(field)[positions], self._weights.k1)
            scores *= np.float32(boost)
            name = FIELDS[field]
            for own, frequency, score in zip(found, pooled.tolist(), scores.tolist(), strict=True):
                if frequency:
                    own[name] = score
        return found

    def _score_word(self, classes: Classes) -> Sparse:
        scores = []
        for one in classes:
            scores.append(combine(list(self._score_fields(one)), self._size, np.add))
        return combine(scores, self._size, np.maximum).ready_to_add(self._size)

    def _score_fields(self, one: TermClass) -> Iterator[Sparse]:
        exact = self._postings.of(one.exact)
        variants = [(self._postings.of(term), weight) for term, weight in one.variants]
        for field, boost in self._boosts(one):
            others = [(found, weight) for held, weight in variants if (found := held[field]) is not None]
            yield self._score(self._pool(exact[field], others), field, boost)

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

    def _pool(self, exact: Sparse | None, variants: Sequence[tuple[Sparse, float]]) -> Sparse:
        """Term frequencies of a class: max(exact, weighted sum of its variants)."""
        weighted = [Sparse(found.positions, found.values * np.float32(weight)) for found, weight in variants]
        pooled = combine(weighted, self._size, np.add)
        return combine([exact or nothing(), pooled], self._size, np.maximum)

    def _score(self, found: Sparse, field: int, boost: float) -> Sparse:
        norms = self._field_norms(field)[found.positions]
        scores = saturate(found.values, norms, self._weights.k1) * np.float32(boost)
        if self._live is None:
            return Sparse(found.positions, scores)
        live = self._live[found.positions]
        return Sparse(found.positions[live], scores[live])

    def _field_norms(self, field: int) -> Floats:
        if field not in self._norms:
            name = FIELDS[field]
            lengths = [segment.data.lengths(name) for segment in self._segments]
            total = sum(segment.data.field_totals[name] for segment in self._segments)
            average, b = total / (self._size or 1), self._weights.of(name).b
            joined = np.concatenate(lengths).astype(np.float32)
            self._norms[field] = length_norms(joined, average, b, self._weights.k1)
        return self._norms[field]


def _pool_at(
    positions: NDArray[np.integer],
    exact: Sparse | None,
    variants: Sequence[tuple[Sparse | None, np.float32]],
) -> Floats | None:
    """What `WordScores._pool` gives for these positions; None where that is nothing, as for most fields."""
    pooled: Floats | None = None
    for held, weight in variants:
        if held is not None and (values := at_some(held, positions)) is not None:
            pooled = values * weight if pooled is None else pooled + values * weight
    if exact is not None and (values := at_some(exact, positions)) is not None:
        return values if pooled is None else np.maximum(pooled, values)
    return pooled
