"""One immutable state of the keyword index, and BM25F search over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Floats32, Keys, Mask, row_products, spread_ranges
from vault_indexer.store.keywords.lexicon import Lexicon
from vault_indexer.store.keywords.postings import LiveSegment, PostingsCache, TermPostings
from vault_indexer.store.keywords.schema import FIELD_WEIGHTS, FIELDS, FieldWeights
from vault_indexer.store.keywords.scorer import ROUNDED_FROM, Classes, Ranking, WordScores, best, may_be_best
from vault_indexer.store.keywords.whoosh_segment import Ints
from vault_indexer.system import record
from vault_indexer.text.terms import QueryTerm


class KeyOrder:
    """The positions of the live documents of all segments by key. `keys` and `live` are by position.

    The first use sorts the keys, which is fast because each segment contains long sorted runs: one sort
    replaces a search in each segment. It never changes; any thread may use it.
    """

    def __init__(self, keys: Keys, live: Mask) -> None:
        self._keys = keys
        self._live = live

    @cached_property
    def _ordered(self) -> tuple[Keys, Ints]:
        """The keys, ascending, each with the position of its document."""
        positions = np.flatnonzero(self._live)
        keys = self._keys[positions]
        # NumPy's stable sort is fast on long sorted runs.
        order = keys.argsort(kind="stable")
        return keys[order], positions[order].astype(np.int32)

    @property
    def keys(self) -> Keys:
        """The keys of all live documents, ascending."""
        return self._ordered[0]

    def holds(self, keys: Keys) -> Mask:
        ordered = self.keys
        if not len(ordered):
            return np.zeros(len(keys), bool)
        found: Mask = ordered.take(ordered.searchsorted(keys), mode="clip") == keys
        return found

    def in_order(self, documents: Mask) -> Mask:
        """Converts a mask over positions to one over `keys`."""
        found: Mask = documents[self._ordered[1]]
        return found

    def keys_at(self, positions: Ints) -> Keys:
        """The distinct keys of the live documents at positions, ascending."""
        found: Keys = np.unique(self._keys[positions[self._live[positions]]])
        return found

    def positions_of(self, keys: Keys) -> Ints:
        """The positions of the live ones of `keys` (distinct), in their order."""
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


PREFIX_WEIGHT = 0.8
"""The weight of an occurrence of a longer word that completes a prefix in the query. A rule of thumb."""

PREFIX_TERMS = 64
"""At most this number of longer words complete a prefix, the most frequent ones. A rule of thumb."""

_COMPLETIONS = 256
_FREQUENCIES = 4096
_FEW = 8
"""At most one eighth of the documents are looked up individually; for more, all are scanned."""


@record
class TermMatch:
    """The share of one query word in a hit's score, by field (weights and boosts included)."""

    word: str
    fields: tuple[tuple[str, float], ...]

    @property
    def score(self) -> float:
        return sum(score for _, score in self.fields)


class HeldTerms(NamedTuple):
    """Which of a query's terms occur: in each of some ranges of keys as a whole (shape (ranges, terms)), and
    in each document of the ranges (`keys`, in the order of the ranges; shape (documents, terms))."""

    ranges: Mask
    keys: Keys
    documents: Mask

    def documents_of(self, keys: Keys) -> Mask:
        """The rows of `documents` for these keys; a row without any term for a document that is not in the
        ranges."""
        found: Mask = np.zeros((len(keys), self.documents.shape[1]), bool)
        rows = self.keys.searchsorted(keys)
        known = np.flatnonzero(self.keys.take(rows, mode="clip") == keys) if len(self.keys) else rows[:0]
        found[known] = self.documents[rows[known]]
        return found


class KeywordSnapshot:
    """One state of the keyword index, and BM25F search over it.

    A `KeywordIndex` makes one after each commit; a `Snapshot` provides it to readers. It never changes: a
    later commit makes another snapshot, which shares the open segments and the cache of postings. Any thread
    may call any method. Scores are those of all live documents; document frequencies count deleted ones until
    a merge. With very many documents (`rounded_from`), a search first sums rounded scores of common words,
    and then looks up the exact scores of the candidates, which gives the same results.

    A position numbers the documents of all segments consecutively, including deleted ones.
    """

    def __init__(
        self,
        segments: Sequence[LiveSegment],
        seq: int,
        postings: PostingsCache,
        rounded_from: int = ROUNDED_FROM,
        lexicon: Lexicon | None = None,
    ) -> None:
        """`lexicon` provides the words for corrections and completions; None disables both."""
        self.seq = seq
        self._rounded_from = rounded_from
        self._segments = tuple(segments)
        self._postings = TermPostings(segments, postings)
        self._live: Mask = np.concatenate([np.empty(0, bool), *(s.live for s in segments)])
        self._scores = FIELD_WEIGHTS, self._score_words(FIELD_WEIGHTS)
        self._keys: Keys = np.concatenate([np.empty(0, np.int64), *(s.data.keys for s in segments)])
        self._order = KeyOrder(self._keys, self._live)
        self._size = len(self._keys)
        self._count = int(self._live.sum())
        self.lexicon = lexicon or Lexicon([])
        # A search requests the same frequency about five times, and many words for a short prefix.
        frequencies = self._postings.frequencies
        self._frequency = lru_cache(maxsize=_FREQUENCIES)(lambda term: max(frequencies(term), default=0))
        self._with_longer = lru_cache(maxsize=_COMPLETIONS)(partial(_with_completions, self.lexicon))

    def __len__(self) -> int:
        return self._count

    @property
    def keys(self) -> Keys:
        """Keys of all live documents, ascending."""
        return self._order.keys

    def holds(self, keys: Keys) -> Mask:
        return self._order.holds(keys)

    def search(
        self, terms: Sequence[QueryTerm], weights: FieldWeights, k: int, allowed: Keys | None = None
    ) -> Ranking:
        """The `k` best documents that contain any of the terms; with `allowed` (keys), only among those."""
        if allowed is not None and len(allowed) * _FEW < self._size:
            return best(self.scores(allowed, terms, weights), allowed, k)
        words = self._scores_by(weights)
        totals = np.zeros(self._size, np.float32)
        too_high = sum(words.add_to(totals, self.classes_of(term), term.weight) for term in terms)
        if allowed is not None:
            within = np.zeros(self._size, bool)
            within[self._order.positions_of(allowed)] = True
            totals[~within] = 0
        if not too_high:
            return best(totals, self._keys, k)
        # The sums contain rounded scores, so the candidates are rescored exactly.
        likely = may_be_best(totals, k, too_high)
        return best(self._totals_at(likely, terms, weights), self._keys[likely], k)

    def scores(self, keys: Keys, terms: Sequence[QueryTerm], weights: FieldWeights) -> Floats32:
        """The score of each of the keys (ascending); 0 for a document without any of the terms."""
        positions = self._order.positions_of(keys)
        values = self._totals_at(positions, terms, weights)
        found = np.zeros(len(keys), np.float32)
        found[keys.searchsorted(self._keys[positions])] = values
        return found

    def term_presence(
        self, firsts: Keys, ends: Keys, terms: Sequence[QueryTerm], weights: FieldWeights
    ) -> HeldTerms:
        """Returns which terms occur in the documents in ranges of keys (`firsts` inclusive, `ends` exclusive;
        ascending, without overlap)."""
        owners, positions = self._order.positions_between(firsts, ends)
        by_range: Mask = np.zeros((len(firsts), len(terms)), bool)
        by_document: Mask = np.zeros((len(positions), len(terms)), bool)
        words = self._scores_by(weights)
        for number, term in enumerate(terms):
            holds = words.holds(self.classes_of(term), positions)
            by_document[:, number] = holds
            by_range[owners[holds], number] = True
        return HeldTerms(by_range, self._keys[positions], by_document)

    def knows(self, term: QueryTerm, weights: FieldWeights) -> bool:
        """Whether any document contains the word in any form that has a weight."""
        return self._scores_by(weights).knows(self.classes_of(term))

    def word_scores(
        self, keys: Sequence[int], terms: Sequence[QueryTerm], weights: FieldWeights
    ) -> list[list[tuple[str, float]]]:
        """For each key the query's words in its document, with their shares of its score, largest first."""
        found: list[list[tuple[str, float]]] = [[] for _ in keys]
        positions, rows = self._positions_and_rows(keys)
        own = [found[row] for row in rows]
        words = self._scores_by(weights)
        for term in terms:
            scores = words.at(self.classes_of(term), positions) * np.float32(term.weight)
            for held, score in zip(own, scores.tolist(), strict=True):
                if score:
                    held.append((term.word, score))
        return [sorted(held, key=lambda share: -share[1]) for held in found]

    def explain(
        self, keys: Sequence[int], terms: Sequence[QueryTerm], weights: FieldWeights
    ) -> list[tuple[TermMatch, ...]]:
        """For each key the query's words in its document, with their shares by field, largest first."""
        matches: list[list[TermMatch]] = [[] for _ in keys]
        positions, rows = self._positions_and_rows(keys)
        scores = self._scores_by(weights)
        for term in terms:
            classes = self.classes_of(term)
            held = np.flatnonzero(scores.holds(classes, positions))
            if not len(held):
                continue
            by_class = zip(*(scores.shares(one, positions[held]) for one in classes), strict=True)
            for number, shares in zip(held.tolist(), by_class, strict=True):
                # A word counts with its best class, not with their sum.
                fields = max(shares, key=lambda one: sum(one.values())) if len(shares) > 1 else shares[0]
                ordered = sorted(fields.items(), key=lambda share: -share[1])
                scaled = tuple((name, score * term.weight) for name, score in ordered)
                matches[rows[number]].append(TermMatch(term.word, scaled))
        return [tuple(sorted(found, key=lambda match: -match.score)) for found in matches]

    def _positions_and_rows(self, keys: Sequence[int]) -> tuple[NDArray[np.integer], list[int]]:
        """The positions of those keys that exist, and their indices in `keys`."""
        positions = self._order.positions_of(np.array(sorted(set(keys)), np.int64))
        row_of_key = {key: row for row, key in enumerate(keys)}
        return positions, [row_of_key[key] for key in self._keys[positions].tolist()]

    def keys_containing(self, terms: Iterable[str], fields: Sequence[str] = FIELDS) -> Keys:
        """Keys of the documents that contain any of the index terms in any of the fields, ascending."""
        held = self._places_of(terms, fields)
        if sum(map(len, held)) * _FEW < self._size:
            return self._order.keys_at(np.concatenate([np.empty(0, np.int32), *held]))
        return self._order.keys[self._mask_of(held)]

    def mask_containing(self, terms: Iterable[str], fields: Sequence[str] = FIELDS) -> Mask:
        """For each of `keys`, whether its document contains any of the index terms in any of the fields."""
        return self._mask_of(self._places_of(terms, fields))

    def _places_of(self, terms: Iterable[str], fields: Sequence[str]) -> list[Ints]:
        """The positions at which each of the terms occurs in each of the fields."""
        wanted = [FIELDS.index(field) for field in fields]
        found = (held[field] for held in map(self._postings.of, terms) for field in wanted)
        return [one.positions for one in found if one is not None]

    def _mask_of(self, held: Iterable[Ints]) -> Mask:
        """For each of `keys`, whether its document is at any of the positions."""
        found = np.zeros(self._size, bool)
        for positions in held:
            found[positions] = True
        return self._order.in_order(found)

    def with_longest_words(self, fields: Sequence[str] = FIELDS) -> Mask:
        """For each of `keys`, whether its document has a word of the maximum length in any of the fields: the
        word in the text may be longer."""
        found = np.zeros(self._size, bool)
        for segment, base in zip(self._segments, self._postings.bases, strict=False):
            for field in fields:
                found[segment.data.longest_words[field] + base] = True
        return self._order.in_order(found)

    def filter_keys(self, keys: Keys, terms: Iterable[str], fields: Sequence[str] = FIELDS) -> Keys:
        """The subset of `keys` that `keys_containing` would return. Faster for few keys."""
        wanted = [FIELDS.index(field) for field in fields]
        # Without a daemon, this index may be behind the vectors that the keys come from: fewer positions.
        positions = self._order.positions_of(keys)
        return self._keys[positions[self._postings.contain_any(positions, terms, wanted)]]

    def document_frequency(self, term: str) -> int:
        """The number of documents with the term in the field where it is most frequent (including deleted
        ones)."""
        return self._frequency(term)

    def largest_document_frequency(self, terms: Iterable[str]) -> int:
        """The document frequency of the most frequent of the terms; 0 if there are none."""
        return max(map(self.document_frequency, terms), default=0)

    def warm(self, words: Iterable[QueryTerm], weights: FieldWeights) -> None:
        """Loads postings and scores of the words in advance for the next query."""
        for word in words:
            self._scores_by(weights).load(self.classes_of(word))

    def _totals_at(
        self, positions: NDArray[np.integer], terms: Sequence[QueryTerm], weights: FieldWeights
    ) -> Floats32:
        """The exact total score of all the terms at positions (of live documents)."""
        words = self._scores_by(weights)
        totals = np.zeros(len(positions), np.float32)
        for term in terms:
            totals += words.at(self.classes_of(term), positions) * np.float32(term.weight)
        return totals

    def _scores_by(self, weights: FieldWeights) -> WordScores:
        held, scores = self._scores
        if held is not weights:  # comparing all the weights takes longer than looking up a word
            if held != weights:
                scores = self._score_words(weights)
            self._scores = weights, scores
        return scores

    def _score_words(self, weights: FieldWeights) -> WordScores:
        return WordScores(self._segments, self._live, self._postings, weights, self._rounded_from)

    def classes_of(self, term: QueryTerm) -> Classes:
        """The classes of a term. If the user is still typing the word, they include the words that begin with
        it."""
        return self._with_longer(term.classes) if term.prefix else term.classes


def held_weight(held: Mask | Floats32, terms: Sequence[QueryTerm]) -> Floats32:
    """The weight of the terms in each row of `held`, shape (rows, terms), as a share of the weight of all
    terms. `held` contains the degree to which each term is present."""
    worth = np.array([term.weight for term in terms], np.float32)
    worth /= np.float32(sum(term.weight for term in terms) or 1.0)
    return row_products(held.astype(np.float32, copy=False), worth)


def _with_completions(lexicon: Lexicon, classes: Classes) -> Classes:
    """Adds the words that begin with the exact one and weighs them like forms of it."""
    first, *others = classes
    longer = lexicon.with_prefix(first.exact, PREFIX_TERMS)
    known = set(first.terms)
    added = tuple((found.term, PREFIX_WEIGHT) for found in longer if found.term not in known)
    return (first._replace(variants=(*first.variants, *added)), *others)
