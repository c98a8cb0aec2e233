"""Link: notes that links call by words of the query, and notes one link away from the strongest hits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.model import NoteRow, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.anchor_text import STRONGEST, match_anchor_text
from vault_indexer.search.rank.candidates import Candidates, RankRequest, global_keys
from vault_indexer.search.rank.fuse import fused_scores
from vault_indexer.search.rank.neighbours import neighbours_of
from vault_indexer.store import Snapshot
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

SEEDS = 5
"""Only neighbours of the strongest hits join: those of weak ones are noise. A rule of thumb."""

NEIGHBOURS = 10
"""At most this number of them, the heaviest: with 20 nDCG@10 is the same to .001."""

NEIGHBOUR_SCORE = 0.2
"""A neighbour is a hint: on judged queries it moved no measure, so it only breaks near ties and fills up."""


class LinkScore(NamedTuple):
    """How far links to a chunk's note say what the query says, in (0, 1], and the notes with such links."""

    score: float
    via: tuple[str, ...]


def link(table: Candidates, request: RankRequest) -> None:
    """The ranking by link, from the strongest rows of the other two rankings, in all the vaults."""
    if not request.settings.weights.graph:
        return
    found = list(_linked(table, request).items())
    if len(request.queries) > 1:
        found.sort(key=lambda item: (-item[1].score, item[0]))
    rows = table.rows_at(np.array([key for key, _ in found], np.int64))
    for rank, (row, (_, one)) in enumerate(zip(rows.tolist(), found, strict=True), start=1):
        table.link_rank[row], table.link[row], table.via[row] = rank, one.score, one.via


def _linked(table: Candidates, request: RankRequest) -> dict[int, LinkScore]:
    """What links say of chunks, by key, best first in each vault."""
    strongest = table.best_first(fused_scores(table, request.settings))
    note_of, vault_of = table.note[strongest].tolist(), table.vault[strongest]
    first = list(dict.fromkeys(note_of))
    linking, seeds = set(first[:STRONGEST]), set(first[:SEEDS])
    found: dict[int, LinkScore] = {}
    for number, query in enumerate(request.queries):
        own = np.flatnonzero(vault_of == number).tolist()
        key_of = dict(zip(own, table.local_key[strongest[own]].tolist(), strict=True))
        rows = query.snapshot.catalog.notes(_note_ids(key_of[at] for at in own if note_of[at] in linking))
        graph = by_link_text(query.snapshot, rows, list(key_of.values()), query.terms)
        ids = _note_ids(key_of[at] for at in own if note_of[at] in seeds)
        paths = [rows[note_id].path for note_id in ids if note_id in rows]
        reasons = by_link(query, paths, graph)
        names = global_keys(number, np.array(list(reasons), np.int64)).tolist()
        found |= dict(zip(names, reasons.values(), strict=True))
    return found


def _note_ids(keys: Iterable[int]) -> list[int]:
    """The distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(map(note_id_of, keys)))


def by_link_text(
    snapshot: Snapshot, notes: Mapping[int, NoteRow], strongest: Sequence[int], terms: Sequence[QueryTerm]
) -> dict[int, LinkScore]:
    """For each of the strongest notes to which links with words of the query lead: its best chunk.

    `strongest` are chunk keys, best first, `notes` their notes by id.
    """
    best = {notes[note_id_of(key)].path: key for key in reversed(strongest) if note_id_of(key) in notes}
    languages = {note.path: note.language for note in notes.values()}
    found = match_anchor_text(snapshot, languages, terms)
    return {best[one.path]: LinkScore(one.weight, one.via) for one in found}


def by_link(
    query: PreparedQuery, seeds: Sequence[str], graph: Mapping[int, LinkScore]
) -> dict[int, LinkScore]:
    """The ranking by link: notes to which links with the query's words lead (`graph`), then those a link away
    from the strongest hits' notes (`seeds`, best first), each by its chunk nearest to the query."""
    known = {note_id_of(key) for key in graph}
    likely = neighbours_of(query.snapshot, seeds)[:NEIGHBOURS]
    nearest = _nearest(query, [neighbour.path for neighbour in likely])
    added = [one for one in likely if one.path in nearest and note_id_of(nearest[one.path]) not in known]
    return dict(graph) | {
        nearest[one.path]: LinkScore(NEIGHBOUR_SCORE * one.weight, one.via) for one in added
    }


def _nearest(query: PreparedQuery, paths: Sequence[str]) -> dict[str, int]:
    """Of notes by path the chunk nearest to the query, the first where that says nothing; a note without any
    chunk (that is allowed) is left out."""
    own = query.snapshot.catalog.chunk_keys_at(paths)
    rows = sorted((key, path) for path, of_note in own.items() for key in of_note)
    keys = np.array([key for key, _ in rows], np.int64)
    scores = np.nan_to_num(query.snapshot.vectors.scores(query.vector, keys), nan=-1.0)
    scores[~query.passing(keys)] = -np.inf
    found: dict[str, tuple[float, int]] = {}
    for (key, path), score in zip(rows, scores.tolist(), strict=True):
        if score > found.get(path, (-np.inf, 0))[0]:
            found[path] = score, key
    return {path: key for path, (_, key) in found.items()}
