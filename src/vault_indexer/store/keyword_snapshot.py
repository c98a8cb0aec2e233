"""One immutable state of the keyword index, and BM25F search over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from vault_indexer.store.bm25f import Ranking, best, inverse_document_frequency, length_norms, saturate
from vault_indexer.store.keyword_cache import ByteCache
from vault_indexer.store.keyword_lexicon import Lexicon
from vault_indexer.store.keyword_schema import FIELDS, FieldWeights
from vault_indexer.text.terms import QueryTerm, TermClass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.store.keyword_segment import Floats, Ints, Keys, Mask, Postings, SegmentData

    Positions = NDArray[np.int64]

PREFIX_WEIGHT = 0.8
"""What an occurrence of a longer word counts when the query's word stands for its beginning."""

PREFIX_TERMS = 64
_SCORED_BYTES = 64 << 20
_FIELD_SCORED_BYTES = 32 << 20

FieldPostings = tuple["Postings | None", ...]
PostingsCache = ByteCache[tuple[str, str], FieldPostings]


class Scored(NamedTuple):
    """What one query term is worth: positions in the snapshot (ascending) and scores."""

    positions: Ints
    scores: Floats


class LiveSegment(NamedTuple):
    """A segment's file with the documents that this snapshot still has."""

    data: SegmentData
    live: Mask


@dataclass(frozen=True, slots=True)
class TermMatch:
    """How much of a hit's score one query word gave, by field (weights and boosts included)."""

    word: str
    fields: tuple[tuple[str, float], ...]

    @property
    def score(self) -> float:
        """The word's whole share."""
        return sum(score for _, score in self.fields)


class KeywordSnapshot:
    """Readers hold one and go on seeing its state; all methods are thread-safe.

    A position numbers the documents of all segments in a row, deleted ones too.
    """

    def __init__(self, segments: Sequence[LiveSegment], seq: int, postings: PostingsCache) -> None:
        import numpy as np

        self.seq = seq
        self._segments = tuple(segments)
        self._postings = postings
        self._scored: ByteCache[tuple[QueryTerm, FieldWeights], Scored] = ByteCache(
            _SCORED_BYTES, lambda scored: scored.positions.nbytes + scored.scores.nbytes
        )
        # What a search has scored by field, an explanation of its hits asks for again.
        self._field_scored: ByteCache[tuple[TermClass, int, FieldWeights], Scored] = ByteCache(
            _FIELD_SCORED_BYTES, lambda scored: scored.positions.nbytes + scored.scores.nbytes
        )
        sizes = [segment.data.size for segment in segments]
        self._bases = [sum(sizes[:i]) for i in range(len(sizes))]
        self._size = sum(sizes)
        self._live: Mask = np.concatenate([np.empty(0, bool), *(s.live for s in segments)])
        self._keys: Keys = np.concatenate([np.empty(0, np.int64), *(s.data.keys for s in segments)])
        self._all_live = bool(self._live.all())
        self._norms: dict[tuple[str, float, float], Floats] = {}
        self.lexicon = Lexicon([segment.data for segment in segments])

    def __len__(self) -> int:
        return int(self._live.sum())

    @property
    def keys(self) -> Keys:
        """Keys of all live documents, ascending."""
        return self._live_keys_and_positions[0]

    def search(
        self, terms: Sequence[QueryTerm], weights: FieldWeights, k: int, allowed: Keys | None = None
    ) -> Ranking:
        """The `k` best documents that hold any of the terms; with `allowed` (keys), of those only."""
        import numpy as np

        totals = np.zeros(self._size, np.float32)
        for term in terms:
            scored = self._score(term, weights)
            totals[scored.positions] += scored.scores * np.float32(term.weight)
        if allowed is not None:
            within = np.zeros(self._size, bool)
            within[self._positions(allowed)] = True
            totals[~within] = 0
        return best(totals, self._keys, k)

    def explain(
        self, keys: Sequence[int], terms: Sequence[QueryTerm], weights: FieldWeights
    ) -> list[tuple[TermMatch, ...]]:
        """For each key the query's words that it holds, with their share by field, largest first."""
        import numpy as np

        wanted = np.array(keys, np.int64)
        matches: list[list[TermMatch]] = [[] for _ in wanted]
        slots = {key: self._positions(np.array([key], np.int64)) for key in wanted.tolist()}
        held = [(row, int(slots[key][0])) for row, key in enumerate(wanted.tolist()) if len(slots[key])]
        for term in terms:
            shares = [self._shares(one, [at for _, at in held], weights) for one in self._classes(term)]
            for number, (row, _) in enumerate(held):
                fields = max((share[number] for share in shares), key=lambda one: sum(one.values()))
                if fields:
                    ordered = sorted(fields.items(), key=lambda share: -share[1])
                    scaled = tuple((name, score * term.weight) for name, score in ordered)
                    matches[row].append(TermMatch(term.word, scaled))
        return [tuple(sorted(found, key=lambda match: -match.score)) for found in matches]

    def holding(self, terms: Iterable[str], fields: Sequence[str] = FIELDS) -> Keys:
        """Keys of the documents that hold any of the index terms in any of the fields, ascending."""
        import numpy as np

        held = np.zeros(self._size, bool)
        for term in terms:
            for field in fields:
                held[self._gather(term, FIELDS.index(field))[0]] = True
        return np.sort(self._keys[held & self._live])

    def document_frequency(self, term: str) -> int:
        """Documents that hold the term in the field where it is most frequent (deleted ones too)."""
        return max((self._frequency((term,), field) for field in range(len(FIELDS))), default=0)

    def warm(self, words: Iterable[QueryTerm], weights: FieldWeights) -> None:
        """Loads postings and scores of the words, and the lexicon, so that the next query finds them."""
        self.lexicon.load()
        for word in words:
            self._score(word, weights)

    def _score(self, term: QueryTerm, weights: FieldWeights) -> Scored:
        key = (replace(term, word="", weight=1.0, start=0, end=0), weights)
        return self._scored.get(key, lambda: self._score_word(term, weights))

    def _score_word(self, term: QueryTerm, weights: FieldWeights) -> Scored:
        import numpy as np

        totals = np.zeros(self._size, np.float32)
        for number, one in enumerate(self._classes(term)):
            scores = np.zeros(self._size, np.float32) if number else totals
            for field in range(len(FIELDS)):
                scored = self._field_score(one, field, weights)
                scores[scored.positions] += scored.scores
            if number:
                np.maximum(totals, scores, out=totals)
        positions = np.flatnonzero(totals).astype(np.int32)
        return Scored(positions, totals[positions])

    def _classes(self, term: QueryTerm) -> tuple[TermClass, ...]:
        if not term.prefix:
            return term.classes
        first, *others = term.classes
        longer = self.lexicon.with_prefix(first.exact, PREFIX_TERMS)
        known = set(first.terms)
        added = tuple((found.term, PREFIX_WEIGHT) for found in longer if found.term not in known)
        return (replace(first, variants=(*first.variants, *added)), *others)

    def _field_score(self, one: TermClass, field: int, weights: FieldWeights) -> Scored:
        return self._field_scored.get((one, field, weights), lambda: self._score_field(one, field, weights))

    def _score_field(self, one: TermClass, field: int, weights: FieldWeights) -> Scored:
        import numpy as np

        weight = weights.of(FIELDS[field])
        positions, frequencies = self._frequencies(one, field)
        if not len(positions) or not weight.boost:
            return Scored(np.empty(0, np.int32), np.empty(0, np.float32))
        norms = self._field_norms(FIELDS[field], weight.b, weights.k1)[positions]
        idf = inverse_document_frequency(self._size, self._frequency(one.terms, field))
        scores = saturate(frequencies, norms, weights.k1)
        scores *= weight.boost * idf * one.weight
        if self._all_live:
            return Scored(positions, scores)
        live = self._live[positions]
        return Scored(positions[live], scores[live])

    def _frequencies(self, one: TermClass, field: int) -> tuple[Ints, Floats]:
        """Positions and term frequencies of a class: max(exact, weighted sum of its variants)."""
        import numpy as np

        exact = self._gather(one.exact, field)
        variants = [(self._gather(term, field), weight) for term, weight in one.variants]
        variants = [(found, weight) for found, weight in variants if len(found[0])]
        if not variants:
            return exact
        pooled = np.zeros(self._size, np.float32)
        for (positions, frequencies), weight in variants:
            pooled[positions] += frequencies * np.float32(weight)
        pooled[exact[0]] = np.maximum(pooled[exact[0]], exact[1])
        positions = np.flatnonzero(pooled).astype(np.int32)
        return positions, pooled[positions]

    def _gather(self, term: str, field: int) -> tuple[Ints, Floats]:
        """The term's postings in the field, over all segments."""
        import numpy as np

        positions, frequencies = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        for segment, base in zip(self._segments, self._bases, strict=True):
            found = self._load(segment.data, term)[field]
            if found is not None:
                positions.append(found.documents + np.int32(base))
                frequencies.append(found.frequencies)
        return np.concatenate(positions), np.concatenate(frequencies)

    def _load(self, data: SegmentData, term: str) -> FieldPostings:
        return self._postings.get(
            (data.name, term), lambda: tuple(data.postings(field, term) for field in FIELDS)
        )

    def _frequency(self, terms: Sequence[str], field: int) -> int:
        return max(
            sum(
                len(found.documents)
                for segment in self._segments
                if (found := self._load(segment.data, term)[field]) is not None
            )
            for term in terms
        )

    def _field_norms(self, field: str, b: float, k1: float) -> Floats:
        import numpy as np

        key = (field, b, k1)
        if key not in self._norms:
            lengths = [segment.data.lengths(field) for segment in self._segments]
            total = sum(segment.data.field_totals[field] for segment in self._segments)
            average = total / (self._size or 1)
            self._norms[key] = length_norms(np.concatenate(lengths).astype(np.float32), average, b, k1)
        return self._norms[key]

    def _shares(
        self, one: TermClass, positions: Sequence[int], weights: FieldWeights
    ) -> list[dict[str, float]]:
        """The class's score by field, for each of the positions."""
        import numpy as np

        wanted = np.array(positions, np.int32)
        shares: list[dict[str, float]] = [{} for _ in positions]
        for field, name in enumerate(FIELDS):
            scored = self._field_score(one, field, weights)
            if not len(scored.positions):
                continue
            at = np.minimum(np.searchsorted(scored.positions, wanted), len(scored.positions) - 1)
            for row in np.flatnonzero(scored.positions[at] == wanted).tolist():
                shares[row][name] = float(scored.scores[at[row]])
        return shares

    @cached_property
    def _live_keys_and_positions(self) -> tuple[Keys, Positions]:
        import numpy as np

        positions = np.flatnonzero(self._live)
        positions = positions[np.argsort(self._keys[positions], kind="stable")]
        return self._keys[positions], positions

    def _positions(self, keys: Keys) -> Positions:
        """Positions of those of `keys` that are live."""
        import numpy as np

        known, positions = self._live_keys_and_positions
        if not len(known):
            return np.empty(0, np.int64)
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        held: Positions = positions[at[known[at] == keys]]
        return held
