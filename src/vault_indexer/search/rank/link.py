"""Link: notes that links call by words of the query, and notes one link away from the strongest hits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_indexer.model import NoteRow, note_id_of
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, RankRequest, global_keys
from vault_indexer.search.rank.fuse import fused_scores
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkText
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import analyze

# The ranking by link text: notes whose links hold the query's words.
#
# The text of a link is another author's name for its target. Neighbours of the strongest hits, by one
# hop, by their number of links or by personalised PageRank, moved no measure beyond chance; the text of
# links did.


STRONGEST = 30
"""Only links to the strongest notes count: deeper ones changed nothing."""

_SHOWN = 3
"""At most this number of notes with such links are named. A rule of thumb."""


@dataclass(frozen=True, slots=True)
class AnchorMatch:
    """A note and how far links to it say what the query says, in (0, 1]; `via` are notes with such links."""

    path: str
    weight: float
    via: tuple[str, ...]


@dataclass(slots=True)
class _Texts:
    """Of the links to one note: how often their texts hold a term, and by which notes."""

    held: Counter[str] = field(default_factory=Counter)
    sources: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def match_anchor_text(
    snapshot: Snapshot, languages: Mapping[str, str], terms: Sequence[QueryTerm]
) -> list[AnchorMatch]:
    """Those of the notes (path to language) to which links with words of the query lead, best first.

    The weight is the query words' share that the texts hold, each word at its own weight, times n / (n + 1)
    for n links that hold it.
    """
    total = sum(term.weight for term in terms)
    words = [(term.weight, term.forms) for term in terms]
    texts = _texts(snapshot, languages)
    found = [_match(path, own, words, total) for path, own in texts.items()] if total else []
    return sorted((one for one in found if one.weight), key=lambda one: (-one.weight, one.path))


def _match(
    path: str, texts: _Texts, words: Iterable[tuple[float, frozenset[str]]], total: float
) -> AnchorMatch:
    weight = 0.0
    via: dict[str, None] = {}
    for worth, forms in words:
        held = forms & texts.held.keys()
        if held:
            links, form = max((texts.held[form], form) for form in held)
            weight += worth * links / (links + 1)
            via.update(dict.fromkeys(texts.sources[form]))
    return AnchorMatch(path, weight / total, tuple(via)[:_SHOWN])


def _texts(snapshot: Snapshot, languages: Mapping[str, str]) -> dict[str, _Texts]:
    """Of links with a text of their own: one without shows its target's path, which is indexed anyway."""
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
"""Of the many neighbours of a hub only so many are looked at: counting their links is the dear part. A rule
of thumb."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note beside hits. `weight` sums, over those hits, 1 / (their rank + 1), shared among the
    links of a hub: a note that is linked with everything says little about anything."""

    path: str
    weight: float
    via: tuple[str, ...]


def neighbours_of(snapshot: Snapshot, seeds: Sequence[str]) -> list[Neighbour]:
    """Notes linked with the seeds (paths, strongest first) either way, heaviest first."""
    linked = snapshot.graph.neighbours(seeds)
    via: dict[str, dict[str, float]] = {}
    for rank, seed in enumerate(seeds, start=1):
        for other in linked.get(seed, ()):
            via.setdefault(other, {})[seed] = 1.0 / (rank + 1)
    likely = sorted(via, key=lambda path: (-sum(via[path].values()), path))[:_WEIGHED]
    degrees = snapshot.graph.degrees(likely)
    found = [_neighbour(path, via[path], degrees) for path in likely]
    return sorted(found, key=lambda neighbour: (-neighbour.weight, neighbour.path))


def _neighbour(path: str, shares: Mapping[str, float], degrees: Mapping[str, int]) -> Neighbour:
    weight = sum(shares.values()) / log2(2 + degrees.get(path, 0))
    return Neighbour(path, weight, tuple(sorted(shares, key=lambda seed: -shares[seed])))


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
