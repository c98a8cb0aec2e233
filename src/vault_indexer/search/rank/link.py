"""Ranks by link: notes whose incoming links use words of the query, and neighbours of the strongest hits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log2
from typing import NamedTuple

import numpy as np

from vault_indexer.model import CHUNK_KEY_BITS, NoteRow
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest, fused_scores, global_keys
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkText
from vault_indexer.system import record
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import analyze

# The ranking by link text: notes whose incoming links contain words of the query.
#
# The text of a link is another author's name for its target. Neighbours of the strongest hits, chosen by one
# hop, by their number of links or by personalised PageRank, changed no measure beyond chance. The text of
# links did.


STRONGEST = 30
"""Only links to this number of strongest notes count. More notes changed nothing."""

_SHOWN = 3
"""Limit of linking notes that a reason names. A rule of thumb."""


@record
class LinkedNote:
    """A note, how strongly its links connect it with the query, and the notes (`via`) with such links."""

    path: str
    weight: float
    via: tuple[str, ...]


@dataclass(slots=True)
class _Texts:
    """The texts of the links to one note: how many links contain each term, and the linking notes."""

    held: Counter[str] = field(default_factory=Counter)
    sources: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def match_anchor_text(
    snapshot: Snapshot, languages: Mapping[str, str], terms: Sequence[QueryTerm]
) -> list[LinkedNote]:
    """Returns the notes that are targets of links with words of the query, best first. `languages` maps the
    paths of the notes to consider to their languages.

    The weight of a note is the share of the query that the link texts contain. Each word counts by its own
    weight, times n / (n + 1) for n links that contain it.
    """
    total = sum(term.weight for term in terms)
    words = [(term.weight, term.forms) for term in terms]
    texts = _texts(snapshot, languages)
    matches = [_match(path, own, words, total) for path, own in texts.items()] if total else []
    return sorted((match for match in matches if match.weight), key=lambda match: (-match.weight, match.path))


def _match(
    path: str, texts: _Texts, words: Iterable[tuple[float, frozenset[str]]], total: float
) -> LinkedNote:
    weight = 0.0
    via: dict[str, None] = {}
    for worth, forms in words:
        matching = forms & texts.held.keys()
        if matching:
            # The form breaks ties, so that the reason does not depend on the order of a set.
            links, form = max((texts.held[form], form) for form in matching)
            # A second link confirms the first; ten say hardly more than five.
            weight += worth * links / (links + 1)
            via.update(dict.fromkeys(texts.sources[form]))
    return LinkedNote(path, weight / total, tuple(via)[:_SHOWN])


def _texts(snapshot: Snapshot, languages: Mapping[str, str]) -> dict[str, _Texts]:
    """Returns the link texts by target. Links without a text of their own are left out, because they show the
    path of the target, which is indexed anyway."""
    shown = snapshot.graph.texts(languages)
    return {path: _texts_of(texts, languages[path]) for path, texts in shown.items()}


@lru_cache(maxsize=1 << 12)
def _texts_of(texts: tuple[LinkText, ...], language: str) -> _Texts:
    own = _Texts()
    for text, links, source in texts:
        for form in _forms(text, language):
            own.held[form] += links
            own.sources[form].append(source)
    return own


@lru_cache(maxsize=1 << 14)
def _forms(display: str, language: str) -> frozenset[str]:
    return frozenset(analyze(display, language))


# Notes one link away from others.


_WEIGHED = 60
"""Limit of neighbours considered: counting the links of a hub's many is expensive. A rule of thumb."""


def neighbours_of(snapshot: Snapshot, seeds: Sequence[str]) -> list[LinkedNote]:
    """Returns the notes linked with the seeds in either direction, by descending weight. `seeds` are paths,
    strongest first. The weight is the sum over the linked seeds of 1 / (rank + 1), divided among the links of
    the note, because a hub that is linked with everything is weak evidence."""
    linked = snapshot.graph.neighbours(seeds)
    via: dict[str, dict[str, float]] = {}
    for rank, seed in enumerate(seeds, start=1):
        for other in linked.get(seed, ()):
            via.setdefault(other, {})[seed] = 1.0 / (rank + 1)
    likely = sorted(via, key=lambda path: (-sum(via[path].values()), path))[:_WEIGHED]
    degrees = snapshot.graph.degrees(likely)
    neighbours = []
    for path in likely:
        shares = via[path]
        # 2, so that a note with one link is divided by more than 1, and one without links by 1.
        weight = sum(shares.values()) / log2(2 + degrees.get(path, 0))
        neighbours.append(
            LinkedNote(path, weight, tuple(sorted(shares, key=shares.__getitem__, reverse=True)))
        )
    return sorted(neighbours, key=lambda neighbour: (-neighbour.weight, neighbour.path))


SEEDS = 5
"""The number of strongest hits whose neighbours join; those of weak hits are noise. A rule of thumb."""

NEIGHBOURS = 10
"""Limit of neighbours added, by descending weight. With 20, nDCG@10 is the same to .001."""

NEIGHBOUR_SCORE = 0.2
"""The score of a neighbour of weight 1. On judged queries neighbours changed no measure, so they only break
near ties and fill up the results."""


class LinkScore(NamedTuple):
    """The degree in (0, 1] to which links to a chunk's note match the query, and the linking notes."""

    score: float
    via: tuple[str, ...]


def link(table: Candidates, request: RankRequest) -> None:
    """Ranks by link, starting from the strongest rows of the other two rankings, in all the vaults."""
    if not request.settings.weights.graph:
        return
    linked = list(_linked(table, request).items())
    if len(request.queries) > 1:  # otherwise already in order
        linked.sort(key=lambda item: (-item[1].score, item[0]))
    rows = table.rows_at(np.array([key for key, _ in linked], np.int64))
    for rank, (row, (_, score)) in enumerate(zip(rows.tolist(), linked, strict=True), start=1):
        table.link_rank[row], table.link[row], table.via[row] = rank, score.score, score.via


def _linked(table: Candidates, request: RankRequest) -> dict[int, LinkScore]:
    """Returns the link scores of chunks by key, best first in each vault."""
    strongest = table.best_first(fused_scores(table, request.settings))
    note_of, vault_of = table.note[strongest].tolist(), table.vault[strongest]
    first = list(dict.fromkeys(note_of))
    linking, seeds = set(first[:STRONGEST]), set(first[:SEEDS])
    scores: dict[int, LinkScore] = {}
    for number, query in enumerate(request.queries):
        own = np.flatnonzero(vault_of == number).tolist()
        key_of = dict(zip(own, table.local_key[strongest[own]].tolist(), strict=True))
        rows = query.snapshot.catalog.notes(_note_ids(key_of[at] for at in own if note_of[at] in linking))
        graph = by_link_text(query.snapshot, rows, list(key_of.values()), query.terms)
        ids = _note_ids(key_of[at] for at in own if note_of[at] in seeds)
        paths = [rows[note_id].path for note_id in ids if note_id in rows]
        reasons = by_link(query, paths, graph)
        names = global_keys(number, np.array(list(reasons), np.int64)).tolist()
        scores |= dict(zip(names, reasons.values(), strict=True))
    return scores


def _note_ids(keys: Iterable[int]) -> list[int]:
    """Returns the distinct notes of chunks, in order of first appearance."""
    return list(dict.fromkeys(key >> CHUNK_KEY_BITS for key in keys))


def by_link_text(
    snapshot: Snapshot, notes: Mapping[int, NoteRow], strongest: Sequence[int], terms: Sequence[QueryTerm]
) -> dict[int, LinkScore]:
    """Returns the best chunk of each of the strongest notes that is the target of links with words of the
    query.

    `strongest` are chunk keys, best first. `notes` are their notes by id.
    """
    # In reverse, so that the best chunk of each note is the last one set.
    by_note = ((key >> CHUNK_KEY_BITS, key) for key in reversed(strongest))
    best = {notes[note_id].path: key for note_id, key in by_note if note_id in notes}
    languages = {note.path: note.language for note in notes.values()}
    matches = match_anchor_text(snapshot, languages, terms)
    return {best[match.path]: LinkScore(match.weight, match.via) for match in matches}


def by_link(
    query: PreparedQuery, seeds: Sequence[str], graph: Mapping[int, LinkScore]
) -> dict[int, LinkScore]:
    """Returns the ranking by link: first the targets of links with words of the query (`graph`), then the
    neighbours of the strongest hits' notes (`seeds`, best first), each with its chunk nearest to the
    query."""
    ranked = {key >> CHUNK_KEY_BITS for key in graph}
    likely = neighbours_of(query.snapshot, seeds)[:NEIGHBOURS]
    nearest = _nearest(query, [note.path for note in likely])
    near = [note for note in likely if note.path in nearest]
    added = [note for note in near if nearest[note.path] >> CHUNK_KEY_BITS not in ranked]
    return dict(graph) | {
        nearest[note.path]: LinkScore(NEIGHBOUR_SCORE * note.weight, note.via) for note in added
    }


def _nearest(query: PreparedQuery, paths: Sequence[str]) -> dict[str, int]:
    """Returns for each note, by path, its chunk nearest to the query, or its first chunk if no vector is
    comparable. Notes without an allowed chunk are left out."""
    own = query.snapshot.catalog.chunk_keys_at(paths)
    rows = sorted((key, path) for path, of_note in own.items() for key in of_note)
    keys = np.array([key for key, _ in rows], np.int64)
    # The lowest cosine: a chunk without a vector is chosen only if no other one has any.
    scores = np.nan_to_num(query.snapshot.vectors.scores(query.vector, keys), nan=-1.0)
    # Below every cosine: a chunk that the filters exclude is never chosen.
    scores[~query.passing(keys)] = -np.inf
    best: dict[str, tuple[float, int]] = {}
    for (key, path), score in zip(rows, scores.tolist(), strict=True):
        if score > best.get(path, (-np.inf, 0))[0]:
            best[path] = score, key
    return {path: key for path, (_, key) in best.items()}
