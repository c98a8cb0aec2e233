"""The answer to a query of filters alone: the notes they leave, or the places they found."""

from __future__ import annotations

from vault_indexer.search.filters import ChunkFilter
from vault_indexer.store import Snapshot

LISTED = "the query has only filters, so the notes changed last come first"


def list_by_time(
    snapshot: Snapshot, chosen: ChunkFilter, limit: int, per_note: int, named: frozenset[int] = frozenset()
) -> list[int]:
    """Chunk keys, note by note: the `named` notes, then the one changed last first (of equals, by path). A
    note that matches as a whole is there once, by its first chunk; else at most `per_note` of the chunks that
    hold a place."""
    newest_first = snapshot.catalog.rows("SELECT note_id FROM notes ORDER BY mtime_ns DESC, path")
    notes = [note_id for (note_id,) in newest_first]
    return chosen.first_chunks(sorted(notes, key=lambda one: one not in named), limit, per_note)
