"""Notes near a note, by meaning and by link, and why each is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from math import log
from typing import NamedTuple

import numpy as np

from vault_indexer.model import Chunk, Nearness, NoteRow, RelatedNote, note_id_of
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkGraph

_NEAREST_CHUNKS = 200
_LINK_SHARE = 0.35
"""A direct link counts as much as this much cosine: it lifts a linked note over a loosely similar one."""

_SHARED_SHARE = 0.5
"""What ever so many shared links count at most. With one link left out and its other end looked for, MRR was
.347 by meaning alone and .404 so on a documentation vault, .114 and .465 on a large one."""

_SHARED_CANDIDATES = 100
_SHARED_NAMED = 5
_HUB = 1000
"""A file linked with more others than this says little of any two of them, and would take long to say it."""

_LINKED_CANDIDATES = 200
"""Of a hub's neighbours, so many are candidates for being linked alone; more if they are near in meaning."""


class _Similar(NamedTuple):
    """The cosine of a note's nearest chunk, and that chunk's key."""

    cosine: float
    key: int


class _Evidence(NamedTuple):
    """All that is known of one candidate."""

    note: NoteRow
    similar: _Similar | None
    links: tuple[str, ...]
    shared: Mapping[str, float]

    @property
    def why(self) -> Nearness:
        weight = sum(self.shared.values())
        return Nearness(
            meaning=self.similar.cosine if self.similar else 0.0,
            link=_LINK_SHARE if self.links else 0.0,
            shared=_SHARED_SHARE * weight / (1 + weight),
        )

    @property
    def score(self) -> float:
        """In [0, 1]."""
        why = self.why
        return max(0.0, why.meaning + why.link + why.shared) / (1 + _LINK_SHARE + _SHARED_SHARE)


def related_notes(snapshot: Snapshot, path: str, limit: int) -> list[RelatedNote]:
    """The notes nearest to the mean of the note's chunk vectors, linked with it, or with what it links."""
    note = snapshot.catalog.note(path)
    if note is None:
        return []
    links = _links(snapshot.graph, path)
    shared = shared_links(snapshot.graph, path, list(links)[:_LINKED_CANDIDATES])
    most = sorted(shared, key=lambda other: (-sum(shared[other].values()), other))[:_SHARED_CANDIDATES]
    others = _notes_at(snapshot, {*list(links)[:_LINKED_CANDIDATES], *most})
    similar = _similar(snapshot, note.note_id, [one.note_id for one in others])
    nearest = snapshot.catalog.notes(set(similar) - {one.note_id for one in others}).values()
    evidence = [
        _Evidence(one, similar.get(one.note_id), links.get(one.path, ()), shared.get(one.path, {}))
        for one in (*others, *nearest)
    ]
    best = sorted(evidence, key=lambda one: (-one.score, one.note.path))[:limit]
    chunks = snapshot.catalog.chunks(one.similar.key for one in best if one.similar)
    return [_related_note(one, chunks[one.similar.key].chunk if one.similar else None) for one in best]


def shared_links(graph: LinkGraph, path: str, linked: Collection[str]) -> dict[str, dict[str, float]]:
    """For each other file, the files of `linked` that both are linked with, either way, and what each tells.

    The sum is the index of Adamic and Adar (2003): a common neighbour counts 1 / log of its degree.
    """
    degrees = graph.degrees(linked)
    between = graph.neighbours(via for via, degree in degrees.items() if degree <= _HUB)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for via, others in between.items():
        for other in others - {path}:
            found[other][via] = 1 / log(len(others))
    return found


def _links(graph: LinkGraph, path: str) -> dict[str, tuple[str, ...]]:
    """The files linked with a path and which way: both ways first, then out, then in."""
    edges = graph.edges_at([path]).get(path, [])
    out = {edge.target for edge in edges if edge.source == path}
    into = {edge.source for edge in edges if edge.target == path}
    sides = (("links to", out), ("linked from", into))
    ordered = (*sorted(out & into), *sorted(out - into), *sorted(into - out))
    return {other: tuple(name for name, side in sides if other in side) for other in ordered}


def _notes_at(snapshot: Snapshot, paths: Collection[str]) -> list[NoteRow]:
    """The notes among the paths: attachments are linked with, but are not near in meaning."""
    found = (snapshot.catalog.note(path) for path in sorted(paths))
    return [note for note in found if note is not None]


def _similar(snapshot: Snapshot, note_id: int, others: Collection[int]) -> dict[int, _Similar]:
    """The nearest chunk of the notes nearest to the note, and of `others` whether near or not."""
    mean = snapshot.vectors.mean_of_note(note_id)
    if mean is None:
        return {}
    best: dict[int, _Similar] = {}
    named = np.array(sorted(_keys_of(snapshot, others)), np.int64)
    for allowed, count in ((None, _NEAREST_CHUNKS), (named, len(named))):
        if count:
            keys, scores = snapshot.vectors.search(mean, count, allowed)
            for key, score in zip(keys.tolist(), scores.tolist(), strict=True):
                best.setdefault(note_id_of(key), _Similar(score, key))
    best.pop(note_id, None)
    return best


def _keys_of(snapshot: Snapshot, note_ids: Collection[int]) -> list[int]:
    sql = "SELECT key FROM chunks WHERE note_id IN (%s)"
    return [row[0] for row in snapshot.catalog.rows_in(sql, note_ids)]


def _related_note(one: _Evidence, chunk: Chunk | None) -> RelatedNote:
    strongest = sorted(one.shared, key=lambda via: (-one.shared[via], via))
    return RelatedNote(
        path=one.note.path,
        title=one.note.title,
        score=one.score,
        similarity=one.similar.cosine if one.similar else None,
        links=one.links,
        chunk_id=chunk.chunk_id if chunk else None,
        header_path=chunk.header_path if chunk else "",
        shared=tuple(strongest[:_SHARED_NAMED]),
        shared_count=len(strongest),
        why=one.why,
    )
