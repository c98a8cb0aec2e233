"""Finds the notes near a note, by meaning and by link, with the reasons."""

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
"""The cosine to which a direct link is equivalent. It ranks a linked note above a loosely similar one."""

_SHARED_SHARE = 0.5
"""The upper bound of the score for shared links. In a test that removed one link and searched for its other
end, MRR was .347 by meaning alone and .404 with shared links on a documentation vault, .114 and .465 on a
large one."""

_SHARED_CANDIDATES = 100
_SHARED_NAMED = 5
_HUB = 1000
"""A file linked with more others than this is weak evidence for any two of them, and slow to evaluate."""

_LINKED_CANDIDATES = 200
"""Limit of neighbours that a link alone makes candidates; others must be near in meaning."""


_LEAST_NEAR = 0.3
"""The cosine below which no note is called close. A rule of thumb, as the shares below."""

_CLOSE = 0.8
_SOMEWHAT_CLOSE = 0.5
"""Shares of the cosine of the nearest note from which on another is close, or somewhat close."""


class _Similar(NamedTuple):
    """The cosine of a note's nearest chunk, and the key of that chunk."""

    cosine: float
    key: int


class _Evidence(NamedTuple):
    """All evidence for one candidate."""

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
            # Bounded: many shared links approach the share but never exceed it.
            shared=_SHARED_SHARE * weight / (1 + weight),
        )

    @property
    def score(self) -> float:
        """The score in [0, 1]."""
        why = self.why
        return max(0.0, why.meaning + why.link + why.shared) / (1 + _LINK_SHARE + _SHARED_SHARE)

    def closeness(self, highest: float) -> str:
        """The similarity of its meaning, in words; `highest` is the cosine of the nearest note."""
        if not self.similar:
            return ""
        share = self.similar.cosine / max(_LEAST_NEAR, highest)
        return "close" if share >= _CLOSE else "somewhat close" if share >= _SOMEWHAT_CLOSE else "less close"


def related_notes(snapshot: Snapshot, path: str, limit: int) -> list[RelatedNote]:
    """Returns the notes near the mean of the note's vectors, or linked with it or its neighbours."""
    note = snapshot.catalog.note(path)
    if note is None:
        return []
    links = _links(snapshot.graph, path)
    shared = shared_links(snapshot.graph, path, list(links)[:_LINKED_CANDIDATES])
    most = sorted(shared, key=lambda other: (-sum(shared[other].values()), other))[:_SHARED_CANDIDATES]
    # Attachments can be linked, but have no meaning to compare.
    rows = map(snapshot.catalog.note, sorted({*list(links)[:_LINKED_CANDIDATES], *most}))
    others = [row for row in rows if row is not None]
    similar = _similar(snapshot, note.note_id, [other.note_id for other in others])
    nearest = snapshot.catalog.notes(set(similar) - {other.note_id for other in others}).values()
    evidence = [
        _Evidence(other, similar.get(other.note_id), links.get(other.path, ()), shared.get(other.path, {}))
        for other in (*others, *nearest)
    ]
    best = sorted(evidence, key=lambda own: (-own.score, own.note.path))[:limit]
    chunks = snapshot.catalog.chunks(own.similar.key for own in best if own.similar)
    highest = max((one.cosine for one in similar.values()), default=0.0)
    return [
        _related_note(
            note, own, chunks[own.similar.key].chunk if own.similar else None, own.closeness(highest)
        )
        for own in best
    ]


def shared_links(graph: LinkGraph, path: str, linked: Collection[str]) -> dict[str, dict[str, float]]:
    """Returns for each other file the files of `linked` with which both are linked, in either direction, and
    the weight of each.

    The sum is the index of Adamic and Adar (2003): the weight of a common neighbour is 1 / log of its degree.
    """
    degrees = graph.degrees(linked)
    between = graph.neighbours(via for via, degree in degrees.items() if degree <= _HUB)
    shared: dict[str, dict[str, float]] = defaultdict(dict)
    for via, others in between.items():
        for other in others - {path}:
            # Never log(1): each `via` is linked with the note itself and with `other`.
            shared[other][via] = 1 / log(len(others))
    return shared


def _links(graph: LinkGraph, path: str) -> dict[str, tuple[str, ...]]:
    """Returns the files linked with a path and the directions: both first, then outgoing, then incoming."""
    edges = graph.edges_at([path]).get(path, [])
    out = {edge.target for edge in edges if edge.source == path}
    into = {edge.source for edge in edges if edge.target == path}
    sides = (("links to", out), ("linked from", into))
    ordered = (*sorted(out & into), *sorted(out - into), *sorted(into - out))
    return {other: tuple(name for name, side in sides if other in side) for other in ordered}


def _similar(snapshot: Snapshot, note_id: int, others: Collection[int]) -> dict[int, _Similar]:
    """Returns the nearest chunk of each note near the given note, and of each of `others`, near or not."""
    mean = snapshot.vectors.mean_of_note(note_id)
    if mean is None:
        return {}
    best: dict[int, _Similar] = {}
    rows = snapshot.catalog.rows_in("SELECT key FROM chunks WHERE note_id IN (%s)", others)
    named = np.array(sorted(key for (key,) in rows), np.int64)
    for allowed, count in ((None, _NEAREST_CHUNKS), (named, len(named))):
        if count:
            keys, scores = snapshot.vectors.search(mean, count, allowed)
            for key, score in zip(keys.tolist(), scores.tolist(), strict=True):
                # The first is the nearest, because keys come best first.
                best.setdefault(note_id_of(key), _Similar(score, key))
    # The note is nearest to its own mean.
    best.pop(note_id, None)
    return best


def _related_note(note: NoteRow, one: _Evidence, chunk: Chunk | None, closeness: str) -> RelatedNote:
    strongest = sorted(one.shared, key=lambda via: (-one.shared[via], via))
    tags = tuple(tag for tag in note.tags if tag in one.note.tags)
    is_joined = bool(one.links or strongest or tags)
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
        shared_tags=tags,
        why=one.why,
        closeness=closeness,
        is_near=closeness == "close" or (is_joined and closeness != "less close"),
    )
