"""The graph around notes: what is linked with them, step by step, and what is near them in meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from vault_indexer.links.related import related_notes
from vault_indexer.model import GraphEdge, GraphNode, NoteGraph
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkGraph

MAX_NODES = 300
"""More than a person can tell apart in a drawing."""

MAX_DEPTH = 3
_RELATED_CENTRES = 5
_RELATED = 8
"""At most this number of related notes of each of the first centres."""


def neighbourhood(
    snapshot: Snapshot, centres: Sequence[str], *, depth: int, limit: int, with_related: bool
) -> NoteGraph:
    """The files within `depth` links of the notes `centres`, at most `limit`, and (`with_related`) notes
    related to the first of them.

    Where a ring of neighbours does not fit, those that most of the files before it link with are kept.
    """
    near = _related_edges(snapshot, centres) if with_related else []
    distances: dict[str, int] = dict.fromkeys(centres[:limit], 0)
    more = len(centres) > limit
    # Related notes belong to the first ring, and a large ring must not crowd them out.
    for edge in near[: max(0, limit - len(distances))]:
        distances.setdefault(edge.target, 1)
    ring = list(centres)
    for distance in range(1, depth + 1):
        found = _next_ring(snapshot.graph, ring, distances)
        room = limit - len(distances)
        more = more or len(found) > room
        ring = found[:room]
        distances |= dict.fromkeys(ring, distance)
    edges = (*_link_edges(snapshot.graph, distances), *(one for one in near if one.target in distances))
    return NoteGraph(tuple(centres), graph_nodes(snapshot, distances), edges, more)


def graph_nodes(snapshot: Snapshot, distances: Mapping[str, int]) -> tuple[GraphNode, ...]:
    """The nodes of files by their distance, in the order given."""
    sql = "SELECT path, title FROM notes WHERE path IN (%s)"
    titles: dict[str, str] = dict(snapshot.catalog.rows_in(sql, distances))
    degrees = snapshot.graph.degrees(distances)
    return tuple(
        GraphNode(
            path,
            titles.get(path, path.rpartition("/")[2]),
            "note" if path in titles else "attachment",
            distance,
            degrees.get(path, 0),
        )
        for path, distance in distances.items()
    )


def _next_ring(graph: LinkGraph, ring: Iterable[str], known: Mapping[str, int]) -> list[str]:
    """The files linked with the ring and not yet known, those with most links to it first."""
    counts: Counter[str] = Counter()
    for others in graph.neighbours(ring).values():
        counts.update(others - known.keys())
    return sorted(counts, key=lambda path: (-counts[path], path))


def _link_edges(graph: LinkGraph, paths: Mapping[str, int]) -> tuple[GraphEdge, ...]:
    """The links among the paths, one edge for those of two files."""
    counts: Counter[tuple[str, str]] = Counter()
    for (source, target), links in graph.links_among(paths.keys()).items():
        counts[min(source, target), max(source, target)] += links
    return tuple(GraphEdge(*pair, "link", count) for pair, count in sorted(counts.items()))


def _related_edges(snapshot: Snapshot, centres: Sequence[str]) -> list[GraphEdge]:
    return [
        GraphEdge(centre, near.path, "related", near.score)
        for centre in centres[:_RELATED_CENTRES]
        for near in related_notes(snapshot, centre, _RELATED)
        if near.score > 0 and not near.links
    ]
