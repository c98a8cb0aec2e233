"""The link graph as the catalog holds it: neighbours by query, whole-graph work by networkx."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_indexer.store.catalog_reader import CatalogReader

if TYPE_CHECKING:
    import networkx as nx

_BATCH = 400


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two files of the vault: from the note `source` to `target`."""

    source: str
    target: str
    kind: str
    subpath: str
    display: str | None
    line: int


class LinkGraph:
    """The resolved links of one catalog state; unresolved ones and links to oneself are no edges."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog

    def edges_at(self, paths: Iterable[str]) -> dict[str, list[Edge]]:
        """For each path, the edges that leave it or arrive at it."""
        wanted = list(dict.fromkeys(paths))
        found: dict[str, list[Edge]] = defaultdict(list)
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            for edge in self._edges(f"AND n.path IN ({marks})", batch):
                found[edge.source].append(edge)
            for edge in self._edges(f"AND l.resolved IN ({marks})", batch):
                found[edge.target].append(edge)
        return found

    def degrees(self, paths: Iterable[str]) -> dict[str, int]:
        """How many distinct files each path is linked with, either way."""
        return {
            path: len({edge.target if edge.source == path else edge.source for edge in edges})
            for path, edges in self.edges_at(paths).items()
        }

    def networkx(self) -> nx.MultiDiGraph[str]:
        """The whole graph; node attribute `kind` is "note" or "linked", edges carry the link."""
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for path, state in self._catalog.rows("SELECT path, state FROM files WHERE state != 'skipped'"):
            graph.add_node(path, kind=state)
        for edge in self._edges("", []):
            graph.add_edge(edge.source, edge.target, kind=edge.kind, subpath=edge.subpath, line=edge.line)
        return graph

    def _edges(self, where: str, values: list[str]) -> list[Edge]:
        sql = (
            "SELECT n.path, l.resolved, l.kind, l.subpath, l.display, l.line"
            " FROM links l JOIN notes n USING (note_id)"
            f" WHERE l.resolved NOTNULL AND l.resolved != n.path {where} ORDER BY n.path, l.ord"
        )
        return [Edge(*row) for row in self._catalog.rows(sql, values)]
