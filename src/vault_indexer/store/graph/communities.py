"""Notes that link to each other more than to others, found by networkx."""

from __future__ import annotations

from collections.abc import Iterable

_SEED = 1
"""The method visits notes in a random order: with one seed, the same links always give the same answer."""


def communities(pairs: Iterable[tuple[str, str, int]]) -> list[list[str]]:
    """The communities of the notes in `pairs` (from, to, links), the largest first, each in order.

    By the method of Louvain (Blondel and others, 2008), which makes the modularity large.
    """
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    for source, target, links in pairs:
        before = graph.get_edge_data(source, target, {"weight": 0})["weight"]
        graph.add_edge(source, target, weight=before + links)
    if not graph:
        return []
    found = nx.community.louvain_communities(graph, weight="weight", seed=_SEED)
    return sorted((sorted(one) for one in found), key=lambda one: (-len(one), one))
