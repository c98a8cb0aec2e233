"""Notes near a note, by meaning and by link, and why each is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING

from vault_indexer.model import Nearness, NoteRow, RelatedNote, note_id_of
from vault_indexer.search.fuse import best_first
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.snapshot import Snapshot

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

_NEAREST_CHUNKS = 200
_LINK_SHARE = 0.35
"""A direct link counts as much as this much cosine: it lifts a linked note over a loosely similar one."""

_SHARED_SHARE = 0.35
"""What many shared links count at most."""

_SHARED_CANDIDATES = 200
_SHARED_NAMED = 5
_HUB = 1000
"""A file linked with more others than this says nothing of any two of them, and would take long to say it."""


@dataclass(frozen=True, slots=True)
class _Similar:
    """The cosine of a note's nearest chunk, and that chunk's key."""

    cosine: float
    key: int


@dataclass(slots=True)
class _Shared:
    """What two notes are both linked with, each with its weight; `weight` is the sum (Adamic and Adar 2003:
    a common neighbour counts 1 / log of its degree)."""

    weight: float = 0.0
    via: dict[str, float] = field(default_factory=dict)

    def add(self, path: str, weight: float) -> None:
        self.weight += weight
        self.via[path] = weight


def related(snapshot: Snapshot, path: str, model: str, limit: int) -> list[RelatedNote]:
    """The notes nearest to the mean of the note's chunk vectors, linked with it, or with what it links."""
    note = snapshot.catalog.note(path)
    if note is None:
        return []
    linked = snapshot.graph.neighbours([path]).get(path, set())
    shared = shared_links(snapshot.graph, path, linked)
    most_shared = sorted(shared, key=lambda other: (-shared[other].weight, other))[:_SHARED_CANDIDATES]
    similar, rows = _candidates(snapshot, note, model, {*linked, *most_shared})
    why = {
        note_id: _nearness(similar.get(note_id), row.path in linked, shared.get(row.path))
        for note_id, row in rows.items()
    }
    scores = {note_id: one.meaning + one.link + one.shared for note_id, one in why.items()}
    best = best_first(scores)[:limit]
    chunks = snapshot.catalog.chunks(similar[note_id].key for note_id in best if note_id in similar)
    sides = _sides(snapshot.graph, path)
    return [
        _related(
            rows[note_id],
            max(0.0, scores[note_id]) / (1 + _LINK_SHARE + _SHARED_SHARE),
            why[note_id],
            sides.get(rows[note_id].path, ()),
            shared.get(rows[note_id].path, _Shared()),
        )
        for note_id in best
    ]
