"""The three rankings of chunks for one query, each the same size or smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_indexer.model import GraphReason, KeywordReason, NoteRow, VectorReason, note_id_of
from vault_indexer.search.link_texts import called
from vault_indexer.search.neighbours import neighbours_of
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]

SEEDS = 5
"""Only neighbours of the strongest hits join: those of weak ones are noise."""

NEIGHBOURS = 20
"""So many of them at the most, the heaviest."""

NEIGHBOUR_SCORE = 0.2
"""A neighbour is a hint: on judged queries it moved no measure, so it only breaks near ties and fills up."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Chunk keys with what each ranking says of them, every dict in its ranking's order. What stands at rank
    `depth` + 1 was only looked up, because another ranking gave it."""

    vector: dict[int, VectorReason]
    keyword: dict[int, tuple[int, float]]
    graph: dict[int, GraphReason]
    depth: int = 0


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


def completed(
    snapshot: Snapshot, found: Rankings, query: Vectors, terms: Sequence[QueryTerm], weights: FieldWeights
) -> Rankings:
    """The same, and for every chunk that only one of the two rankings gave, its score in the other."""
    import numpy as np

    behind = found.depth + 1
    only_words = np.array(sorted(found.keyword.keys() - found.vector.keys()), np.int64)
    only_meaning = np.array(sorted(found.vector.keys() - found.keyword.keys()), np.int64)
    meaning = by_meaning(snapshot, query, len(only_words), only_words) if len(only_words) else {}
    words = by_word(snapshot, terms, weights, len(only_meaning), only_meaning) if len(only_meaning) else {}
    return Rankings(
        found.vector | {key: VectorReason(behind, reason.score) for key, reason in meaning.items()},
        found.keyword | {key: (behind, score) for key, (_, score) in words.items()},
        found.graph,
        found.depth,
    )


def by_link_text(
    snapshot: Snapshot, notes: Mapping[int, NoteRow], strongest: Sequence[int], terms: Sequence[QueryTerm]
) -> dict[int, GraphReason]:
    """For each of the strongest notes that links call by words of the query: its best chunk. `strongest` are
    chunk keys, best first, `notes` their notes by id."""
    best = {notes[note_id_of(key)].path: key for key in reversed(strongest) if note_id_of(key) in notes}
    languages = {note.path: note.language for note in notes.values()}
    found = called(snapshot, languages, terms)
    return {best[one.path]: GraphReason(rank, one.weight, one.via) for rank, one in enumerate(found, start=1)}


def by_link(
    snapshot: Snapshot,
    seeds: Sequence[str],
    graph: Mapping[int, GraphReason],
    query: Vectors,
    allowed: Keys | None = None,
) -> dict[int, GraphReason]:
    """The ranking by link: notes that links call by the query's words (`graph`), then those a link away from
    the strongest hits' notes (`seeds`, best first), each by its chunk nearest to the query."""
    known = {note_id_of(key) for key in graph}
    likely = neighbours_of(snapshot, seeds)[:NEIGHBOURS]
    keys = _chunk_keys(snapshot, [neighbour.path for neighbour in likely], allowed)
    chosen = [one for one in likely if one.path in keys and note_id_of(keys[one.path][0]) not in known]
    nearest = _nearest(snapshot, [key for one in chosen for key in keys[one.path]], query)
    best = [max(keys[one.path], key=lambda key: (nearest.get(key, -1.0), -key)) for one in chosen]
    found = zip(best, chosen, strict=True)
    return dict(graph) | {
        key: GraphReason(rank, NEIGHBOUR_SCORE * one.weight, one.via)
        for rank, (key, one) in enumerate(found, start=len(graph) + 1)
    }


def _chunk_keys(snapshot: Snapshot, paths: Sequence[str], allowed: Keys | None) -> dict[str, list[int]]:
    """The chunks of notes by path; a path without any (that is allowed) is left out."""
    sql = (
        "SELECT n.path, c.key FROM notes n JOIN chunks c USING (note_id)"
        f" WHERE n.path IN ({','.join('?' * len(paths))}) ORDER BY c.key"
    )
    found: dict[str, list[int]] = {}
    for path, key in snapshot.catalog.rows(sql, list(paths)):
        if allowed is None or key in allowed:
            found.setdefault(path, []).append(int(key))
    return found


def _nearest(snapshot: Snapshot, keys: Sequence[int], query: Vectors) -> dict[int, float]:
    import numpy as np

    if not keys or not query.any():
        return {}
    wanted = np.array(sorted(keys), np.int64)
    found, scores = snapshot.vectors.search(query, len(wanted), wanted)
    return dict(zip(found.tolist(), scores.tolist(), strict=True))


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


def note_ids(keys: Sequence[int]) -> list[int]:
    """The distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(note_id_of(key) for key in keys))
