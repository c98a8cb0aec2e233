"""The answer to a query of filters alone: the notes they leave, or the places they found."""

from __future__ import annotations

from collections.abc import Sequence

from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.filters import Allowed
from vault_indexer.store.snapshot import Snapshot

LISTED = "only filters: listed by time of change, newest first"


def listed(snapshot: Snapshot, allowed: Allowed, limit: int, per_note: int) -> list[int]:
    """Chunk keys, note by note, the one changed last first (of equals, by path). A note that matches as a
    whole is there once, by its first chunk; else at most `per_note` of the chunks that hold a place."""
    import numpy as np

    own = allowed.keys >> CHUNK_KEY_BITS
    shown: list[int] = []
    left = set(own.tolist())
    for note_id in _newest_first(snapshot):
        if note_id not in left:
            continue
        first, last = np.searchsorted(own, [note_id, note_id + 1]).tolist()
        most = per_note if note_id in allowed.matches.places else 1
        shown += allowed.keys[first : min(last, first + most)].tolist()
        if len(shown) >= limit:
            break
    return shown[:limit]


def _newest_first(snapshot: Snapshot) -> Sequence[int]:
    return [row[0] for row in snapshot.catalog.rows("SELECT note_id FROM notes ORDER BY mtime_ns DESC, path")]
