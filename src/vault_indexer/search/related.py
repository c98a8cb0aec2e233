"""Notes near a note, by meaning and by link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.model import RelatedNote, note_id_of
from vault_indexer.search.fuse import best_first
from vault_indexer.search.neighbours import neighbours_of
from vault_indexer.store.snapshot import Snapshot

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

_NEAREST_CHUNKS = 200
_LINK_SHARE = 0.35
"""A direct link counts as much as this much cosine: it lifts a linked note over a loosely similar one."""


def related(snapshot: Snapshot, path: str, model: str, limit: int) -> list[RelatedNote]:
    """The notes nearest to the mean of the note's chunk vectors, and those it is linked with."""
    note = snapshot.catalog.note(path)
    if note is None:
        return []
    similar = _similar(snapshot, note.note_id, model)
    linked = {neighbour.path: neighbour for neighbour in neighbours_of(snapshot, [path])}
    paths = {row.path: row for row in snapshot.catalog.notes(similar).values()}
    for other in linked:
        found = snapshot.catalog.note(other)
        if found:
            paths[other] = found
    scores = {
        row.note_id: similar.get(row.note_id, 0.0) + _LINK_SHARE * (row.path in linked)
        for row in paths.values()
    }
    by_id = {row.note_id: row for row in paths.values() if row.path != path}
    best = [note_id for note_id in best_first(scores) if note_id in by_id][:limit]
    edges = snapshot.graph.edges_at([path]).get(path, [])
    out = {edge.target for edge in edges if edge.source == path}
    into = {edge.source for edge in edges if edge.target == path}
    return [
        RelatedNote(
            path=by_id[note_id].path,
            title=by_id[note_id].title,
            score=min(1.0, scores[note_id] / (1 + _LINK_SHARE)),
            similarity=similar.get(note_id),
            links=tuple(
                name
                for name, side in (("links to", out), ("linked from", into))
                if by_id[note_id].path in side
            ),
        )
        for note_id in best
    ]


def _similar(snapshot: Snapshot, note_id: int, model: str) -> dict[int, float]:
    """Note id to the best cosine of one of its chunks with the note's mean vector."""
    mean = _mean_vector(snapshot, note_id, model)
    if mean is None:
        return {}
    keys, scores = snapshot.vectors.search(mean, _NEAREST_CHUNKS)
    best: dict[int, float] = {}
    for key, score in zip(keys.tolist(), scores.tolist(), strict=True):
        best.setdefault(note_id_of(key), score)
    best.pop(note_id, None)
    return best


def _mean_vector(snapshot: Snapshot, note_id: int, model: str) -> Vectors | None:
    import numpy as np

    keys = [row.key for row in snapshot.catalog.chunks_of(note_id)]
    rows = snapshot.catalog.chunk_vectors(model, keys)
    if not rows:
        return None
    packed = np.frombuffer(b"".join(vector for _, vector in rows), np.float16).reshape(len(rows), -1)
    mean = packed.astype(np.float32).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / np.float32(length) if length else None
