"""One ranking from those of the retrievers: fused, weighed by age, exact titles first."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import GraphReason, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.anchor_text import STRONGEST
from vault_indexer.search.rank.fuse import best_first, convex_combination, reciprocal_rank_fusion
from vault_indexer.search.rank.notes import note_scores
from vault_indexer.search.rank.recency import recency_factor
from vault_indexer.search.rank.retrieve import (
    SEEDS,
    Rankings,
    Ranks,
    by_link,
    by_link_text,
    by_meaning,
    by_word,
    fill_missing_scores,
    note_ids,
)
from vault_indexer.search.rank.titles import match_titles
from vault_indexer.search.terms import trust_beside
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights

MIN_CANDIDATES = 60
"""Each ranking gives at least this many: what both half know is found deep in each. With 100 nDCG@10 is .004
higher on the help vault, .002 lower on the large one and the same on all others; a search takes longer."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate's final score, and the parts it is made of; `order` is best first."""

    order: tuple[int, ...]
    scores: Mapping[int, float]
    fused: Mapping[int, float]
    recency: Mapping[int, float]
    titles: Mapping[int, float]
    rankings: Rankings = field(default_factory=lambda: Rankings({}, {}, {}))


def rank(
    snapshot: Snapshot,
    prepared: PreparedQuery,
    settings: SearchSettings,
    fields: FieldWeights,
    *,
    by_note: bool,
    limit: int,
) -> Ranked:
    """Rank all candidates of a query that has words.

    With `by_note` each note is there once, by its best chunk.
    """
    k = settings.candidates or max(MIN_CANDIDATES, 2 * limit)
    rankings = _by_meaning_and_word(snapshot, prepared, settings, fields, k)
    fused = _fuse(rankings, settings)
    if settings.weights.graph:
        rankings = replace(rankings, graph=_by_link(snapshot, prepared, best_first(fused)))
        fused = _add_link_scores(fused, rankings, settings)
    named = _best_chunks_by_name(snapshot, prepared, fused)
    for key in named:
        fused.setdefault(key, 0.0)
    modified = snapshot.catalog.modified_times({note_id_of(key) for key in fused})
    now = time.time_ns()
    factors = {note: recency_factor(mtime_ns, now, settings.recency) for note, mtime_ns in modified.items()}
    recency = {key: factors[note_id] for key in fused if (note_id := note_id_of(key)) in factors}
    scores = {key: fused[key] * factor for key, factor in recency.items()}
    if by_note:
        scores = dict(note_scores(scores).values())
        named_notes = set(map(note_id_of, named))
        named = [key for key in scores if note_id_of(key) in named_notes]
    bonus = max(scores.values(), default=0.0)
    titles = {key: bonus for key in named if key in scores}
    final = {key: score + titles.get(key, 0.0) for key, score in scores.items()}
    return Ranked(tuple(best_first(final)), final, fused, recency, titles, rankings)


def relative(ranked: Ranked, key: int) -> float:
    """A candidate's score beside the best one's: 1 for all where nothing says anything for any of them."""
    top = ranked.scores[ranked.order[0]]
    return ranked.scores[key] / top if top else 1.0


def _fuse(rankings: Rankings, settings: SearchSettings) -> dict[int, float]:
    """The rankings by meaning and by word, fused as configured.

    A convex combination takes a cosine as it is: it is comparable between queries, and low where the model
    knows nothing. A BM25F score has no scale, so it counts beside the best one.
    """
    weights = _weights(rankings, settings)
    if settings.fusion == "rrf":
        lists = {"vector": list(rankings.vector), "keyword": list(rankings.keyword)}
        return reciprocal_rank_fusion(lists, weights, settings.rrf_k)
    top = max((score for _, score in rankings.keyword.values()), default=1.0)
    scores = {
        "vector": {key: score if score > 0 else 0.0 for key, (_, score) in rankings.vector.items()},
        "keyword": {key: score / top for key, (_, score) in rankings.keyword.items()},
    }
    return convex_combination(scores, weights)


def _add_link_scores(
    fused: Mapping[int, float], rankings: Rankings, settings: SearchSettings
) -> dict[int, float]:
    """The fusion of all three rankings, from that of the first two.

    The ranking by link starts from the strongest chunks of the other two, so it joins last. In a convex
    combination `fused` weighs as much as the rankings whose mean it is.
    """
    weight = settings.weights.graph
    if settings.fusion == "rrf":
        links = reciprocal_rank_fusion({"graph": list(rankings.graph)}, {"graph": weight}, settings.rrf_k)
        return {key: fused.get(key, 0.0) + links.get(key, 0.0) for key in (*fused, *links)}
    weights = _weights(rankings, settings)
    held = (weights["vector"] if rankings.vector else 0.0) + (weights["keyword"] if rankings.keyword else 0.0)
    links = {key: reason.score for key, reason in rankings.graph.items()}
    return convex_combination({"fused": fused, "graph": links}, {"fused": held, "graph": weight})


def _weights(rankings: Rankings, settings: SearchSettings) -> dict[str, float]:
    """What the rankings by meaning and by word count; trust scales scores only, not ranks."""
    trust = rankings.trust if settings.fusion == "convex" else 1.0
    return {"vector": settings.weights.vector * trust, "keyword": settings.weights.keyword}


def _by_meaning_and_word(
    snapshot: Snapshot, prepared: PreparedQuery, settings: SearchSettings, fields: FieldWeights, k: int
) -> Rankings:
    """The first `k` of both rankings; for a convex combination with the scores that one of them lacks."""
    weights = settings.weights
    meaning = by_meaning(snapshot, prepared.vector, k, prepared.chosen) if weights.vector else {}
    prepared.deadline.check()
    words = by_word(snapshot, prepared.terms, fields, k, prepared.chosen) if weights.keyword else {}
    found = Rankings(meaning, words, {}, k, prepared.trust)
    if settings.fusion == "convex" and weights.vector and weights.keyword:
        found = replace(found, trust=_trust(snapshot, prepared, words, fields))
        found = fill_missing_scores(snapshot, found, prepared.vector, prepared.terms, fields)
    prepared.deadline.check()
    return found


def _by_link(snapshot: Snapshot, prepared: PreparedQuery, strongest: Sequence[int]) -> dict[int, GraphReason]:
    """The ranking by link, from the strongest chunks so far (best first)."""
    notes = snapshot.catalog.notes(note_ids(strongest)[:STRONGEST])
    graph = by_link_text(snapshot, notes, strongest, prepared.terms)
    seeds = [notes[note_id].path for note_id in note_ids(strongest)[:SEEDS] if note_id in notes]
    return by_link(snapshot, seeds, graph, prepared.vector, prepared.chosen)


def _trust(snapshot: Snapshot, prepared: PreparedQuery, words: Ranks, fields: FieldWeights) -> float:
    """What the vectors count for this query. In a language that the model does not know, what its words
    find or miss says nothing for the vectors."""
    if prepared.trust < 1.0:
        return prepared.trust
    best = next(iter(words), None)
    held = 0.0 if best is None else snapshot.keywords.share(best, prepared.terms, fields)
    return trust_beside(held)


def _best_chunks_by_name(
    snapshot: Snapshot, prepared: PreparedQuery, fused: Mapping[int, float]
) -> list[int]:
    """Of each note whose name is the query, the best chunk that may be found, else the first."""
    wanted = match_titles(snapshot, prepared.text)
    best: dict[int, int] = {}
    for key in best_first(fused):
        if note_id_of(key) in wanted:
            best.setdefault(note_id_of(key), key)
    for note_id in sorted(wanted - best.keys()):
        rows = snapshot.catalog.rows("SELECT key FROM chunks WHERE note_id = ? ORDER BY key", (note_id,))
        own = np.array([row[0] for row in rows], np.int64)
        left = own[prepared.passing(own)]
        if len(left):
            best[note_id] = int(left[0])
    return list(best.values())
