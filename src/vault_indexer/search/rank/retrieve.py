"""The three rankings of chunks for one query, each the same size or smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.model import GraphReason, NoteReason, NoteRow, note_id_of
from vault_indexer.search.filters import ChunkFilter
from vault_indexer.search.rank.anchor_text import match_anchor_text
from vault_indexer.search.rank.chunk_coverage import ChunkCoverage
from vault_indexer.search.rank.neighbours import neighbours_of
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

    Keys = NDArray[np.int64]
    Scores = NDArray[np.float32]

SEEDS = 5
"""Only neighbours of the strongest hits join: those of weak ones are noise."""

NEIGHBOURS = 10
"""So many of them at the most, the heaviest: with 20 nDCG@10 is the same to .001."""

NEIGHBOUR_SCORE = 0.2
"""A neighbour is a hint: on judged queries it moved no measure, so it only breaks near ties and fills up."""

_REACHES = (2, 16)
"""A filter is first checked on so many times the chunks that a ranking needs."""

Ranks = dict[int, tuple[int, float]]
"""Rank, from 1, and score by chunk key, in the ranking's order."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Chunk keys with what each ranking says of them, every dict in its ranking's order. What stands at rank
    `depth` + 1 was only looked up, because another ranking gave it. `trust` is what the vectors count for
    this query; `notes` is what the whole notes of the chunks say, by note id; `coverage` is how much of the
    query each chunk says."""

    vector: Ranks
    keyword: Ranks
    graph: dict[int, GraphReason]
    depth: int = 0
    trust: float = 1.0
    notes: Mapping[int, NoteReason] = field(default_factory=dict)
    coverage: ChunkCoverage = field(default_factory=ChunkCoverage)


def by_meaning(snapshot: Snapshot, query: Vectors, k: int, chosen: ChunkFilter | None = None) -> Ranks:
    """Rank and cosine of the k chunks (of those that a filter leaves) nearest to the query vector; none if it
    has no known token."""
    if not query.any():
        return {}
    return _best(partial(snapshot.vectors.search, query), k, chosen)


def by_word(
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    k: int,
    chosen: ChunkFilter | None = None,
) -> Ranks:
    """Rank and BM25F score of the k best chunks (of those that a filter leaves) with any of the words."""

    def search(k: int, allowed: Keys | None) -> tuple[Keys, Scores]:
        ranking = snapshot.keywords.search(terms, weights, k, allowed)
        return ranking.keys, ranking.scores

    return _best(search, k, chosen)


def _best(
    search: Callable[[int, Keys | None], tuple[Keys, Scores]], k: int, chosen: ChunkFilter | None
) -> Ranks:
    """The k best chunks that a filter leaves. It checks the notes of the best ones; only where it leaves few
    of these does it check all."""
    if chosen is None:
        return _with_ranks(*search(k, None))
    for reach in _REACHES:
        if not chosen.is_open:
            break
        keys, scores = search(reach * k, chosen.keys)
        kept = chosen.passing(keys, k)
        if int(kept.sum()) >= k or len(keys) < reach * k:
            return _with_ranks(keys[kept][:k], scores[kept][:k])
    chosen.settle()
    return _with_ranks(*search(k, chosen.keys))


def _with_ranks(keys: Keys, scores: Scores) -> Ranks:
    return dict(zip(keys.tolist(), enumerate(scores.tolist(), start=1), strict=True))


def fill_missing_scores(
    snapshot: Snapshot,
    found: Rankings,
    query: Vectors,
    terms: Sequence[QueryTerm],
    weights: FieldWeights,
    named: Iterable[int] = (),
) -> Rankings:
    """The same, and for every chunk that only one of the two rankings gave, its score in the other; for
    those that are `named`, both."""
    behind = found.depth + 1
    all_keys = found.keyword.keys() | found.vector.keys() | set(named)
    only_words = np.array(sorted(all_keys - found.vector.keys()), np.int64)
    only_meaning = np.array(sorted(all_keys - found.keyword.keys()), np.int64)
    meaning = snapshot.vectors.scores(query, only_words) if query.any() else np.full(len(only_words), np.nan)
    words = snapshot.keywords.scores(only_meaning, terms, weights)
    near, said = ~np.isnan(meaning), words > 0
    return replace(
        found,
        vector=found.vector | _at_rank(behind, only_words[near], meaning[near]),
        keyword=found.keyword | _at_rank(behind, only_meaning[said], words[said]),
    )


def _at_rank(rank: int, keys: Keys, scores: Vectors) -> Ranks:
    return dict(zip(keys.tolist(), zip(repeat(rank), scores.tolist(), strict=False), strict=True))


def by_link_text(
    snapshot: Snapshot, notes: Mapping[int, NoteRow], strongest: Sequence[int], terms: Sequence[QueryTerm]
) -> dict[int, GraphReason]:
    """For each of the strongest notes to which links with words of the query lead: its best chunk.

    `strongest` are chunk keys, best first, `notes` their notes by id.
    """
    best = {notes[note_id_of(key)].path: key for key in reversed(strongest) if note_id_of(key) in notes}
    languages = {note.path: note.language for note in notes.values()}
    found = match_anchor_text(snapshot, languages, terms)
    return {best[one.path]: GraphReason(rank, one.weight, one.via) for rank, one in enumerate(found, start=1)}


def by_link(
    snapshot: Snapshot,
    seeds: Sequence[str],
    graph: Mapping[int, GraphReason],
    query: Vectors,
    chosen: ChunkFilter | None = None,
) -> dict[int, GraphReason]:
    """The ranking by link: notes to which links with the query's words lead (`graph`), then those a link away
    from the strongest hits' notes (`seeds`, best first), each by its chunk nearest to the query."""
    known = {note_id_of(key) for key in graph}
    likely = neighbours_of(snapshot, seeds)[:NEIGHBOURS]
    nearest = _nearest(snapshot, [neighbour.path for neighbour in likely], query, chosen)
    added = [one for one in likely if one.path in nearest and note_id_of(nearest[one.path]) not in known]
    return dict(graph) | {
        nearest[one.path]: GraphReason(rank, NEIGHBOUR_SCORE * one.weight, one.via)
        for rank, one in enumerate(added, start=len(graph) + 1)
    }


def _nearest(
    snapshot: Snapshot, paths: Sequence[str], query: Vectors, chosen: ChunkFilter | None
) -> dict[str, int]:
    """Of notes by path the chunk nearest to the query, the first where that says nothing; a note without any
    chunk (that is allowed) is left out."""
    own = snapshot.catalog.chunk_keys_at(paths)
    rows = sorted((key, path) for path, of_note in own.items() for key in of_note)
    keys = np.array([key for key, _ in rows], np.int64)
    scores = np.nan_to_num(snapshot.vectors.scores(query, keys), nan=-1.0)
    if chosen is not None:
        scores[~chosen.passing(keys)] = -np.inf
    found: dict[str, tuple[float, int]] = {}
    for (key, path), score in zip(rows, scores.tolist(), strict=True):
        if score > found.get(path, (-np.inf, 0))[0]:
            found[path] = score, key
    return {path: key for path, (_, key) in found.items()}


def note_ids(keys: Sequence[int]) -> list[int]:
    """The distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(note_id_of(key) for key in keys))
