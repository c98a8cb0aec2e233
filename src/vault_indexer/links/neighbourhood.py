"""The graph around notes: the files linked with them, step by step, and the notes near them in meaning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from vault_indexer.links.related import related_notes
from vault_indexer.model import Cluster, ClusterEdge, ClusterKind, ClusterMap, GraphEdge, GraphNode, NoteGraph
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import LinkGraph, communities

MAX_NODES = 300
"""The maximum number of nodes, which is more than a reader can distinguish in a drawing."""

MAX_DEPTH = 3
_RELATED_CENTRES = 5
_RELATED = 8
"""Limit of related notes for each of the first `_RELATED_CENTRES` centres."""


def neighbourhood(
    snapshot: Snapshot, centres: Sequence[str], *, depth: int, limit: int, with_related: bool
) -> NoteGraph:
    """Returns at most `limit` files within `depth` links of the notes `centres`, and with `with_related` also
    notes related to the first centres.

    If a ring of neighbours does not fit, the files with the most links to the ring before it are kept.
    """
    near = _related_edges(snapshot, centres) if with_related else []
    distances: dict[str, int] = dict.fromkeys(centres[:limit], 0)
    more = len(centres) > limit
    # Related notes belong to the first ring, and a large ring must not crowd them out.
    for edge in near[: max(0, limit - len(distances))]:
        distances.setdefault(edge.target, 1)
    ring = list(centres)
    for distance in range(1, depth + 1):
        neighbours = _next_ring(snapshot.graph, ring, distances)
        room = limit - len(distances)
        more = more or len(neighbours) > room
        ring = neighbours[:room]
        distances |= dict.fromkeys(ring, distance)
    edges = (*_link_edges(snapshot.graph, distances), *(edge for edge in near if edge.target in distances))
    return NoteGraph(tuple(centres), graph_nodes(snapshot, distances), edges, more)


def graph_nodes(snapshot: Snapshot, distances: Mapping[str, int]) -> tuple[GraphNode, ...]:
    """Returns the nodes of files with their distances, in the given order."""
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
    """Returns the unknown files that are linked with the ring, those linked with most of it first."""
    counts: Counter[str] = Counter()
    for others in graph.neighbours(ring).values():
        counts.update(others - known.keys())
    return sorted(counts, key=lambda path: (-counts[path], path))


def _link_edges(graph: LinkGraph, paths: Mapping[str, int]) -> tuple[GraphEdge, ...]:
    counts: Counter[tuple[str, str]] = Counter()
    for (source, target), links in graph.links_among(paths.keys()).items():
        # The graph shows one line between two files, whatever the direction.
        counts[min(source, target), max(source, target)] += links
    return tuple(GraphEdge(*pair, "link", count) for pair, count in sorted(counts.items()))


def _related_edges(snapshot: Snapshot, centres: Sequence[str]) -> list[GraphEdge]:
    return [
        GraphEdge(centre, near.path, "related", near.score)
        for centre in centres[:_RELATED_CENTRES]
        for near in related_notes(snapshot, centre, _RELATED)
        if near.score > 0 and not near.links
    ]


# The whole vault as clusters of notes, so that a large vault can be drawn.


MAX_CLUSTERS = 60
_MEMBERS = 25
"""Limit of named notes of a cluster. The most linked notes are named."""

_NAMED_BY = 2
_SMALLEST = 3
"""The minimum number of notes of a community that is a cluster of its own."""

_REST = "other notes"
_UNLINKED = "notes without links"

Pairs = Sequence[tuple[str, str, int]]
Groups = dict[str, list[str]]


def cluster_map(snapshot: Snapshot, by: ClusterKind, folder: str = "") -> ClusterMap:
    """Returns the notes of the vault as at most `MAX_CLUSTERS` clusters, the largest first.

    By folder, the clusters are the folders in `folder` and the notes directly in it. By community, they are
    groups of notes that link to each other more than to others, and `folder` is ignored.
    """
    paths = snapshot.catalog.note_paths()
    pairs = snapshot.graph.note_pairs()
    if by == "folder":
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        groups = _by_folder((path for path in paths if path.startswith(prefix)), prefix)
    else:
        prefix = ""
        groups = _by_community(paths, pairs)
    kept = _largest(groups)
    # About the number of linked notes: one that is linked both ways counts twice.
    linked = Counter(path for source, target, _ in pairs for path in (source, target))
    group_of = {path: number for number, name in enumerate(kept) for path in kept[name]}
    inside, between = _count_links(pairs, group_of)
    clusters = []
    taken: set[str] = set()
    for number, (name, members) in enumerate(kept.items()):
        best = sorted(members, key=lambda path: (-linked[path], path))[:_MEMBERS]
        nodes = graph_nodes(snapshot, dict.fromkeys(best, 0))
        shown = _name_of(nodes, taken) if by == "community" and name not in (_REST, _UNLINKED) else name
        taken.add(shown)
        where = prefix + name if by == "folder" and name not in (_REST, _here(prefix)) else ""
        clusters.append(Cluster(shown, where, len(members), inside[number], nodes))
    edges = tuple(ClusterEdge(one, other, links) for (one, other), links in sorted(between.items()))
    return ClusterMap(by, prefix.rstrip("/"), len(paths), tuple(clusters), edges)


def _name_of(nodes: Sequence[GraphNode], taken: Collection[str]) -> str:
    """Returns the titles of the two most linked notes of a community, or the path of the first note if
    another community has that name."""
    name = ", ".join(dict.fromkeys(node.title for node in nodes[:_NAMED_BY]))
    return nodes[0].path if name in taken else name


def _by_folder(paths: Iterable[str], prefix: str) -> Groups:
    groups: Groups = defaultdict(list)
    for path in paths:
        name, slash, _ = path[len(prefix) :].partition("/")
        groups[name if slash else _here(prefix)].append(path)
    return groups


def _here(prefix: str) -> str:
    return f"in {prefix.rstrip('/')}" if prefix else "in no folder"


def _by_community(paths: Sequence[str], pairs: Pairs) -> Groups:
    """Returns the communities. The key of each is its first path, which is unique."""
    parts = communities(pairs)
    groups = {members[0]: members for members in parts if len(members) >= _SMALLEST}
    # Hundreds of pairs would fill the picture without showing any structure.
    small = [path for members in parts if len(members) < _SMALLEST for path in members]
    linked = {path for members in parts for path in members}
    alone = [path for path in paths if path not in linked]
    rest = {name: members for name, members in ((_REST, small), (_UNLINKED, alone)) if members}
    return {**groups, **rest}


def _largest(groups: Mapping[str, list[str]]) -> Groups:
    """Returns the groups by descending size. Those beyond `MAX_CLUSTERS` are merged into one."""
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))
    if len(order) <= MAX_CLUSTERS:
        return {name: groups[name] for name in order}
    kept = [name for name in order if name != _REST][: MAX_CLUSTERS - 1]
    rest = [path for name in order if name not in kept for path in groups[name]]
    return {**{name: groups[name] for name in kept}, _REST: rest}


def _count_links(pairs: Pairs, group_of: Mapping[str, int]) -> tuple[Counter[int], Counter[tuple[int, int]]]:
    inside: Counter[int] = Counter()
    between: Counter[tuple[int, int]] = Counter()
    for source, target, links in pairs:
        one, other = group_of.get(source), group_of.get(target)
        if one is None or other is None:
            continue
        if one == other:
            inside[one] += links
        else:
            between[min(one, other), max(one, other)] += links
    return inside, between
