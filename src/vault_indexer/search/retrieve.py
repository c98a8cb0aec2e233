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
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Rankings:
    """Chunk keys with what each ranking says of them, every dict in its ranking's order."""

    vector: dict[int, VectorReason]
    keyword: dict[int, tuple[int, float]]
    graph: dict[int, GraphReason]


def by_meaning(
    snapshot: Snapshot, query: Vectors, k: int, allowed: Keys | None = None
) -> dict[int, VectorReason]:
    """The k chunks (of those allowed) nearest to the query vector; none if it has no known token."""
    if not query.any():
        return {}
    keys, scores = snapshot.vectors.search(query, k, allowed)
    found = zip(keys.tolist(), scores.tolist(), strict=True)
    return {key: VectorReason(rank, score) for rank, (key, score) in enumerate(found, start=1)}


def by_word(
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    k: int,
    allowed: Keys | None = None,
) -> dict[int, tuple[int, float]]:
    """Rank and BM25F score of the k best chunks (of those allowed) that hold any of the words."""
    ranking = snapshot.keywords.search(terms, weights, k, allowed)
    found = zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True)
    return {key: (rank, score) for rank, (key, score) in enumerate(found, start=1)}


def by_link(
    snapshot: Snapshot,
    neighbours: Sequence[Neighbour],
    query: Vectors,
    k: int,
    allowed: Keys | None = None,
) -> dict[int, GraphReason]:
    """For each of the k heaviest neighbours its chunk nearest to the query, or its first one. A note
    without a chunk (that is allowed) is no neighbour."""
    likely = neighbours[:k] if allowed is None else neighbours
    keys = _chunk_keys(snapshot, [neighbour.path for neighbour in likely], allowed)
    chosen = [neighbour for neighbour in likely if neighbour.path in keys][:k]
    nearest = _nearest(snapshot, [key for neighbour in chosen for key in keys[neighbour.path]], query)
    return {
        max(keys[neighbour.path], key=lambda key: (nearest.get(key, -1.0), -key)): GraphReason(
            rank, neighbour.weight, neighbour.via
        )
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


def _chunk_keys(snapshot: Snapshot, paths: Sequence[str], allowed: Keys | None) -> dict[str, list[int]]:
    """The chunks of notes by path; a path without any is left out."""
    wanted = None if allowed is None else set(allowed.tolist())
    found: dict[str, list[int]] = {}
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        sql = (
            "SELECT n.path, c.key FROM notes n JOIN chunks c USING (note_id)"
            f" WHERE n.path IN ({','.join('?' * len(batch))}) ORDER BY c.key"
        )
        for path, key in snapshot.catalog.rows(sql, batch):
            if wanted is None or key in wanted:
                found.setdefault(path, []).append(int(key))
    return found


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
