"""The whole vault as clusters of notes, so that a large one can be drawn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from vault_indexer.links.neighbourhood import graph_nodes
from vault_indexer.model import Cluster, ClusterEdge, ClusterKind, ClusterMap, GraphNode
from vault_indexer.store import Snapshot
from vault_indexer.store.graph import communities

MAX_CLUSTERS = 60
_MEMBERS = 25
"""Notes of a cluster that are named: the most linked ones."""

_NAMED_BY = 2
_SMALLEST = 3
"""Notes of a community that is shown by itself."""

_REST = "other notes"
_UNLINKED = "notes without links"

Pairs = Sequence[tuple[str, str, int]]
Groups = dict[str, list[str]]


def cluster_map(snapshot: Snapshot, by: ClusterKind, folder: str = "") -> ClusterMap:
    """The notes of the vault as at most `MAX_CLUSTERS` clusters, the largest first.

    By folder: the folders in `folder`, and the notes that lie in it. By community: notes that link to each
    other more than to others; `folder` does not count then.
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
    linked = _linked(pairs)
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
    """The two notes of a community that most links name, or the path of the first where another community has
    that name."""
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
    """By the first path of each, a name that no other has."""
    found = communities(pairs)
    groups = {members[0]: members for members in found if len(members) >= _SMALLEST}
    small = [path for members in found if len(members) < _SMALLEST for path in members]
    linked = {path for members in found for path in members}
    alone = [path for path in paths if path not in linked]
    rest = {name: members for name, members in ((_REST, small), (_UNLINKED, alone)) if members}
    return {**groups, **rest}


def _largest(groups: Mapping[str, list[str]]) -> Groups:
    """The largest groups first; those beyond `MAX_CLUSTERS` are one."""
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))
    if len(order) <= MAX_CLUSTERS:
        return {name: groups[name] for name in order}
    kept = [name for name in order if name != _REST][: MAX_CLUSTERS - 1]
    rest = [path for name in order if name not in kept for path in groups[name]]
    return {**{name: groups[name] for name in kept}, _REST: rest}


def _linked(pairs: Pairs) -> Counter[str]:
    """How many notes each note is linked with, roughly: one that links both ways counts twice."""
    counts: Counter[str] = Counter()
    for source, target, _ in pairs:
        counts[source] += 1
        counts[target] += 1
    return counts


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
