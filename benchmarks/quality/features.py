"""What can be known of an answer from outside of the search: signs of whether the vault holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quality.engine import OpenSet, plain
from vault_indexer.model import Hit, SearchRequest
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.searcher import Searcher
from vault_indexer.search.terms import weight_by_idf
from vault_indexer.store.keywords import FIELD_WEIGHTS, held_weight
from vault_indexer.text.query import analyze_query

FEATURES = ("idf share", "cosine", "cosine z", "agreement", "word gap", "words known")
_BACKGROUND = 1000
_TOP = 10
_DEADLINE_S = 60.0


@dataclass(frozen=True, slots=True)
class Background:
    """A sample of the vault's chunks, at equal distances: what is alike to a query by chance."""

    keys: NDArray[np.int64]

    @classmethod
    def of(cls, open_set: OpenSet) -> Background:
        """At most a thousand chunks."""
        keys = np.array(sorted(open_set.snapshot.vectors.live_keys()), np.int64)
        return cls(keys[:: max(1, len(keys) // _BACKGROUND)])


def features(
    open_set: OpenSet, searcher: Searcher, background: Background, text: str, hits: Sequence[Hit]
) -> tuple[float, ...]:
    """One value for each of `FEATURES`; all are higher where the answer is likelier to be there.

    `idf share` is the part of the query's weight, as written, that the best hit holds. `cosine z` is the best
    hit's cosine in standard deviations above the background's mean. `agreement` is the part of the first ten
    by words that is among the first ten by meaning. `word gap` is how far the second by words is behind the
    first, `words known` the part of the query's words that any note holds.
    """
    snapshot, weights = open_set.snapshot, FIELD_WEIGHTS
    deadline = QueryDeadline(_DEADLINE_S)
    request = SearchRequest(plain(text))
    prepared = prepare_query([SearchedVault("", None, snapshot, searcher.embedder)], request, deadline)[0]
    terms = weight_by_idf(prepared.statistics, analyze_query(plain(text), snapshot.languages))
    known = [snapshot.keywords.knows(term, weights) for term in terms]
    key = _key(open_set, hits)
    share = 0.0
    if key is not None:
        own = np.array([key], np.int64)
        held = snapshot.keywords.term_presence(own, own + 1, terms, weights)
        share = float(held_weight(held.documents, terms)[0])
    cosine, z = _cosine(open_set, prepared, background, key)
    by_words = snapshot.keywords.search(prepared.terms, weights, _TOP)
    by_meaning, _ = snapshot.vectors.search(prepared.vector, _TOP)
    scores = by_words.scores.tolist()
    gap = 1 - scores[1] / scores[0] if len(scores) > 1 else float(len(scores))
    agreement = len(np.intersect1d(by_words.keys, by_meaning)) / _TOP
    return share, cosine, z, agreement, gap, float(np.mean(known)) if known else 0.0


def _key(open_set: OpenSet, hits: Sequence[Hit]) -> int | None:
    """The key of the best hit's chunk."""
    if not hits:
        return None
    catalog = open_set.snapshot.catalog
    rows = catalog.rows("SELECT key FROM chunks WHERE chunk_id = ?", (hits[0].chunk_id,))
    return next((int(str(row[0])) for row in rows), None)


def _cosine(
    open_set: OpenSet, prepared: PreparedQuery, background: Background, key: int | None
) -> tuple[float, float]:
    vectors = open_set.snapshot.vectors
    chance = vectors.scores(prepared.vector, background.keys)
    if key is None or not np.any(prepared.vector):
        return 0.0, 0.0
    own = float(vectors.scores(prepared.vector, np.array([key], np.int64))[0])
    if np.isnan(own):
        return 0.0, 0.0
    return own, (own - float(np.nanmean(chance))) / (float(np.nanstd(chance)) or 1.0)
