"""From the rankings of the retrievers to one: fused, weighed by age, exact titles first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import NoteRow, note_id_of
from vault_indexer.search.asked import Asked
from vault_indexer.search.by_note import note_scores
from vault_indexer.search.fuse import best_first, reciprocal_rank_fusion
from vault_indexer.search.neighbours import SEEDS, neighbours_of
from vault_indexer.search.recency import recency_factor
from vault_indexer.search.retrieve import Rankings, by_link, by_meaning, by_word, note_ids
from vault_indexer.search.titles import notes_called
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot

MIN_CANDIDATES = 50
"""Each ranking gives at least this many: fusing deep rankings costs little and finds what both half know."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every candidate's final score, and the parts it is made of; `order` is best first."""

    order: tuple[int, ...]
    scores: Mapping[int, float]
    fused: Mapping[int, float]
    recency: Mapping[int, float]
    titles: Mapping[int, float]
    notes: Mapping[int, NoteRow]
    rankings: Rankings = field(default_factory=lambda: Rankings({}, {}, {}))


def rank(
    snapshot: Snapshot,
    asked: Asked,
    settings: SearchSettings,
    fields: FieldWeights,
    *,
    by_note: bool,
    limit: int,
) -> Ranked:
    """All candidates of a query that has words. With `by_note` each note is there once, by its best chunk."""
    k = settings.candidates or max(MIN_CANDIDATES, 2 * limit)
    rankings = _retrieved(snapshot, asked, settings, fields, k)
    fused = fuse(rankings, settings)
    called = _called(snapshot, asked, fused)
    for key in called:
        fused.setdefault(key, 0.0)
    notes = snapshot.catalog.notes({note_id_of(key) for key in fused})
    now = time.time_ns()
    live = {key: notes[note_id_of(key)] for key in fused if note_id_of(key) in notes}
    recency = {key: recency_factor(note.mtime_ns, now, settings.recency) for key, note in live.items()}
    scores = {key: fused[key] * recency[key] for key in live}
    if by_note:
        scores = dict(note_scores(scores).values())
        called = [key for key in scores if note_id_of(key) in set(map(note_id_of, called))]
    bonus = max(scores.values(), default=0.0)
    titles = {key: bonus for key in called if key in scores}
    final = {key: score + titles.get(key, 0.0) for key, score in scores.items()}
    return Ranked(tuple(best_first(final)), final, fused, recency, titles, notes, rankings)


def fuse(rankings: Rankings, settings: SearchSettings) -> dict[int, float]:
    """The configured fusion of the rankings."""
    weights = settings.weights
    return reciprocal_rank_fusion(
        {
            "vector": list(rankings.vector),
            "keyword": list(rankings.keyword),
            "graph": list(rankings.graph),
        },
        {"vector": weights.vector, "keyword": weights.keyword, "graph": weights.graph},
        settings.rrf_k,
    )


def _retrieved(
    snapshot: Snapshot, asked: Asked, settings: SearchSettings, fields: FieldWeights, k: int
) -> Rankings:
    meaning = by_meaning(snapshot, asked.vector, k, asked.keys)
    words = by_word(snapshot, asked.terms, fields, k, asked.keys)
    strongest = best_first(fuse(Rankings(meaning, words, {}), settings))
    paths = snapshot.catalog.notes(note_ids(strongest[: 4 * SEEDS]))
    seeds = [paths[note_id].path for note_id in note_ids(strongest) if note_id in paths][:SEEDS]
    links = by_link(snapshot, neighbours_of(snapshot, seeds), asked.vector, k, asked.keys)
    return Rankings(meaning, words, links)


def _called(snapshot: Snapshot, asked: Asked, fused: Mapping[int, float]) -> list[int]:
    """Of each note that is called what the query says, the best chunk that may be found, else the first."""
    wanted = notes_called(snapshot, asked.text)
    best: dict[int, int] = {}
    for key in best_first(fused):
        if note_id_of(key) in wanted:
            best.setdefault(note_id_of(key), key)
    allowed = None if asked.keys is None else set(asked.keys.tolist())
    for note_id in sorted(wanted - best.keys()):
        rows = snapshot.catalog.rows("SELECT key FROM chunks WHERE note_id = ? ORDER BY key", (note_id,))
        own = [int(row[0]) for row in rows if allowed is None or row[0] in allowed]
        if own:
            best[note_id] = own[0]
    return list(best.values())
