"""The three rankings of chunks for one query, each the same size or smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_indexer.model import GraphReason, KeywordReason, VectorReason, note_id_of
from vault_indexer.search.neighbours import Neighbour
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


@dataclass(frozen=True, slots=True)
class Rankings:
    """Chunk keys with what each ranking says of them, every dict in its ranking's order."""

    vector: dict[int, VectorReason]
    keyword: dict[int, tuple[int, float]]
    graph: dict[int, GraphReason]


def by_meaning(snapshot: Snapshot, query: Vectors, k: int) -> dict[int, VectorReason]:
    """The k chunks nearest to the query vector; none if the query has no known token."""
    if not query.any():
        return {}
    keys, scores = snapshot.vectors.search(query, k)
    found = zip(keys.tolist(), scores.tolist(), strict=True)
    return {key: VectorReason(rank, score) for rank, (key, score) in enumerate(found, start=1)}


def by_word(
    snapshot: Snapshot, terms: Sequence[QueryTerm], weights: FieldWeights, k: int
) -> dict[int, tuple[int, float]]:
    """Rank and BM25F score of the k best chunks that hold any of the words."""
    ranking = snapshot.keywords.search(terms, weights, k)
    found = zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True)
    return {key: (rank, score) for rank, (key, score) in enumerate(found, start=1)}


def by_link(
    snapshot: Snapshot, neighbours: Sequence[Neighbour], query: Vectors, k: int
) -> dict[int, GraphReason]:
    """For each neighbouring note, heaviest first, its chunk nearest to the query (or its first one)."""
    best: dict[str, int] = {}
    keys = {path: _chunk_keys(snapshot, path) for path in (neighbour.path for neighbour in neighbours[:k])}
    nearest = _nearest(snapshot, [key for own in keys.values() for key in own], query)
    for path, own in keys.items():
        if own:
            best[path] = max(own, key=lambda key: (nearest.get(key, -1.0), -key))
    chosen = [neighbour for neighbour in neighbours if neighbour.path in best]
    return {
        best[neighbour.path]: GraphReason(rank, neighbour.weight, neighbour.via)
        for rank, neighbour in enumerate(chosen, start=1)
    }


def keyword_reasons(
    snapshot: Snapshot,
    ranked: dict[int, tuple[int, float]],
    wanted: Sequence[int],
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
) -> dict[int, KeywordReason]:
    """Matched words and fields of the chunks that are shown."""
    shown = [key for key in wanted if key in ranked]
    explained = snapshot.keywords.explain(shown, terms, weights)
    reasons = {}
    for key, matches in zip(shown, explained, strict=True):
        fields: dict[str, float] = {}
        for match in matches:
            for name, score in match.fields:
                fields[name] = fields.get(name, 0.0) + score
        rank, score = ranked[key]
        reasons[key] = KeywordReason(rank, score, {match.word: match.score for match in matches}, fields)
    return reasons


def _chunk_keys(snapshot: Snapshot, path: str) -> list[int]:
    sql = "SELECT c.key FROM chunks c JOIN notes n USING (note_id) WHERE n.path = ? ORDER BY c.key"
    return [int(row[0]) for row in snapshot.catalog.rows(sql, (path,))]


def _nearest(snapshot: Snapshot, keys: Sequence[int], query: Vectors) -> dict[int, float]:
    import numpy as np

    if not keys or not query.any():
        return {}
    allowed = np.array(sorted(keys), np.int64)
    found, scores = snapshot.vectors.search(query, len(allowed), allowed)
    return dict(zip(found.tolist(), scores.tolist(), strict=True))


def note_ids(keys: Sequence[int]) -> list[int]:
    """The distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(note_id_of(key) for key in keys))
