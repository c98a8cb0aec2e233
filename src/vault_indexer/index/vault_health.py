"""Statistics of an index: chunk sizes, unresolved links, and the size on disk."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from vault_indexer.model import SizeBucket, UnresolvedTarget, VaultHealth
from vault_indexer.store import Snapshot
from vault_indexer.system import size_of

_BOUNDS = (100, 250, 500, 1000, 1500, 2000, 3000, 5000)
"""Upper bounds of the buckets of the chunk size histogram, in characters."""


_WANTED = 20


def vault_health(snapshot: Snapshot, root: Path, unresolved: tuple[UnresolvedTarget, ...]) -> VaultHealth:
    """Return the statistics of one state of the index in the folder `root`. `unresolved` are the link targets
    without a file, the most frequent first."""
    catalog = snapshot.catalog
    sizes = sorted(row[0] for row in catalog.rows("SELECT end_pos - start_pos FROM chunks"))
    counts = [0] * (len(_BOUNDS) + 1)
    for size in sizes:
        counts[bisect_right(_BOUNDS, size)] += 1
    strategies = catalog.rows("SELECT strategy, count(*) FROM chunks GROUP BY strategy ORDER BY 2 DESC, 1")
    return VaultHealth(
        notes=catalog.counts().notes,
        chunks=len(sizes),
        smallest=sizes[0] if sizes else 0,
        median=sizes[len(sizes) // 2] if sizes else 0,
        largest=sizes[-1] if sizes else 0,
        histogram=tuple(map(SizeBucket, (*_BOUNDS, None), counts)),
        strategies=dict(strategies),
        languages=catalog.notes_by_language(),
        index_bytes=size_of(root),
        orphans=len(snapshot.graph.orphans()),
        wanted=unresolved[:_WANTED],
        wanted_count=len(unresolved),
    )
