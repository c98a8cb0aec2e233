"""The link graph: neighbours by query, whole-graph algorithms by networkx, which only this module imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_indexer.documents import part_name
from vault_indexer.model import BlockId, FileKind, LinkKind, kind_of
from vault_indexer.parse import Anchors, Subpath
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import LruCache, batches, record

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Arrival", "LinkGraph", "LinkPlaces", "LinkText", "communities"]

_SEED = 1
"""The method visits notes in random order; a fixed seed gives the same answer for the same links."""


def communities(pairs: Iterable[tuple[str, str, int]]) -> list[list[str]]:
    """The communities of the notes in `pairs` (from, to, links), largest first, each in order: groups of
    notes that link to each other more than to other notes.

    Uses the method of Louvain (Blondel and others, 2008), which maximises modularity.
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


class ChunkSpan(NamedTuple):
    key: int
    chunk_id: str
    start: int
    end: int


class PointedChunk(NamedTuple):
    """The chunk and line that a subpath points at, or the `problem` if they do not exist."""

    chunk: ChunkSpan | None = None
    line: int | None = None
    problem: str | None = None


class LinkPlaces:
    """Looks up the chunks of links and of their targets in one catalog state, for a single request. Caches
    all look-ups."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._ids: dict[str, int | None] = {}
        self._chunks: dict[str, Sequence[ChunkSpan]] = {}
        self._anchors: dict[str, Anchors] = {}
        self._found: dict[tuple[str, str, bool], PointedChunk] = {}

    def chunk_at(self, path: str, position: int) -> ChunkSpan | None:
        """The smallest chunk of the note that contains the position; None for a position in the
        frontmatter."""
        holding = [chunk for chunk in self._chunks_of(path) if chunk.start <= position < chunk.end]
        return min(holding, key=lambda chunk: (chunk.end - chunk.start, chunk.key), default=None)

    def find_chunk(self, path: str, subpath: str, *, slugs: bool) -> PointedChunk:
        """Resolves `path#subpath`. Returns no place and no problem for a file that is not a note (`#page=3`).

        `slugs`: headings may be written as web sites write them, for Markdown links.
        """
        wanted = (path, subpath, slugs)
        if wanted not in self._found:
            self._found[wanted] = self._point(*wanted)
        return self._found[wanted]

    def find_span(self, path: str, subpath: str) -> Subpath:
        """The heading or block that `subpath` names in the note `path`, in any form that links allow."""
        return self._anchors_of(path).find(subpath, slugs=True)

    def _point(self, path: str, subpath: str, slugs: bool) -> PointedChunk:
        if not subpath or self._note_id(path) is None:
            return PointedChunk()
        place = self._anchors_of(path).find(subpath, slugs=slugs)
        if place.start is None:
            # The viewer of a document knows more places than its extracted text: `#height=400`, an anchor.
            is_known = kind_of(path) is not FileKind.DOCUMENT or subpath.startswith(f"{part_name(path)}=")
            return PointedChunk(problem=place.problem if is_known else None)
        return PointedChunk(self.chunk_at(path, place.start), place.line)

    def _anchors_of(self, path: str) -> Anchors:
        if path not in self._anchors:
            note_id = self._note_id(path) or 0
            sql = "SELECT id, start_pos, end_pos, line FROM blocks WHERE note_id = ? ORDER BY ord"
            blocks = [BlockId(*row) for row in self._catalog.rows(sql, (note_id,))]
            self._anchors[path] = Anchors(self._catalog.headings(note_id), blocks)
        return self._anchors[path]

    def _chunks_of(self, path: str) -> Sequence[ChunkSpan]:
        if path not in self._chunks:
            sql = "SELECT key, chunk_id, start_pos, end_pos FROM chunks WHERE note_id = ?"
            self._chunks[path] = [ChunkSpan(*row) for row in self._catalog.rows(sql, (self._note_id(path),))]
        return self._chunks[path]

    def _note_id(self, path: str) -> int | None:
        if path not in self._ids:
            found = self._catalog.rows("SELECT note_id FROM notes WHERE path = ?", (path,))
            self._ids[path] = int(found[0][0]) if found else None
        return self._ids[path]


# Twice in one query, this stays below 999 parameters, the limit of SQLite before version 3.32.
_BATCH = 400
_REMEMBERED = 20_000
"""The maximum number of paths in each cache. A rule of thumb."""

Value = TypeVar("Value")

_EDGES = (
    "SELECT n.path, l.resolved, l.kind, l.subpath, l.display, l.line, l.start_pos, count(*)"
    ", min(l.ord)"  # min() makes SQLite take the bare columns from the row of this minimum
    " FROM links l JOIN notes n USING (note_id)"
    " WHERE l.resolved NOTNULL AND l.resolved != n.path {where}"
    " GROUP BY l.note_id, l.resolved, l.kind, l.subpath ORDER BY n.path, min(l.ord)"
)
_NEIGHBOURS = (
    "SELECT n.path AS path, l.resolved AS other FROM links l JOIN notes n USING (note_id)"
    " WHERE l.resolved NOTNULL AND l.resolved != n.path AND n.path IN ({marks})"
    " UNION SELECT l.resolved, n.path FROM links l JOIN notes n USING (note_id)"
    " WHERE l.resolved != n.path AND l.resolved IN ({marks})"
)


@record
class Edge:
    """The links of one kind from the note `source` to one place in the file `target`, `count` of them.

    `line`, `display`, `start` (the position in the text) and `source_chunk` belong to the first link. Chunks
    are chunk keys, and None until `place_edges` sets them; they stay None for a link in the frontmatter, and
    for one whose subpath is missing or does not exist.
    """

    source: str
    target: str
    kind: str
    subpath: str
    display: str | None
    line: int
    start: int = 0
    count: int = 1
    source_chunk: int | None = None
    target_chunk: int | None = None


class Arrival(NamedTuple):
    """A link to a file from the note `source`, at `text[start:end]` of that note, in this chunk."""

    note_id: int
    source: str
    title: str
    kind: str
    subpath: str
    start: int
    end: int
    line: int
    chunk_id: str | None


class LinkText(NamedTuple):
    """A text that links show instead of their target: the number of such links, and the first note with
    one."""

    text: str
    links: int
    source: str


class LinkGraph:
    """The resolved links of one catalog state. Unresolved links and links of a note to itself are not edges.
    A snapshot owns the graph; any thread may use it."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        # Searches read the same notes repeatedly, above all the hubs.
        self._degrees: LruCache[str, int] = LruCache(_REMEMBERED)
        self._neighbours: LruCache[str, frozenset[str]] = LruCache(_REMEMBERED)
        self._texts: LruCache[str, tuple[LinkText, ...]] = LruCache(_REMEMBERED)

    def edges_at(self, paths: Iterable[str]) -> dict[str, list[Edge]]:
        """For each path, the edges that leave it or arrive at it; `place_edges` adds their chunks."""
        found: dict[str, list[Edge]] = defaultdict(list)
        for batch, marks in _batches(paths):
            for edge in self._edges(f"AND n.path IN ({marks})", batch):
                found[edge.source].append(edge)
            for edge in self._edges(f"AND l.resolved IN ({marks})", batch):
                found[edge.target].append(edge)
        return found

    def arrivals(self, path: str) -> list[Arrival]:
        """Every link from other notes to a path, by source and place."""
        chunk = (
            "SELECT c.chunk_id FROM chunks c WHERE c.note_id = l.note_id AND c.start_pos <= l.start_pos"
            " AND c.end_pos > l.start_pos ORDER BY c.end_pos - c.start_pos, c.key LIMIT 1"
        )
        sql = (
            f"SELECT n.note_id, n.path, n.title, l.kind, l.subpath, l.start_pos, l.end_pos, l.line, ({chunk})"
            " FROM links l JOIN notes n USING (note_id) WHERE l.resolved = ? AND n.path != ?"
            " ORDER BY n.path, l.ord"
        )
        return [Arrival(*row) for row in self._catalog.rows(sql, (path, path))]

    def linkable(self) -> list[str]:
        # A skipped file with a known inode exists in the vault: only its content is not indexed.
        sql = "SELECT path FROM files WHERE state != 'skipped' OR inode != 0"
        return [row[0] for row in self._catalog.rows(sql)]

    def place_edges(self, edges: Iterable[Edge]) -> list[Edge]:
        """Returns the edges with the chunk that contains them and the chunk that their subpath points at."""
        places = LinkPlaces(self._catalog)
        return [_place_edge(edge, places) for edge in edges]

    def degrees(self, paths: Iterable[str]) -> dict[str, int]:
        """The number of distinct files that each path is linked with, in either direction; paths without
        links are omitted."""
        return _read_with_cache(self._degrees, paths, self._count, 0)

    def neighbours(self, paths: Iterable[str]) -> dict[str, frozenset[str]]:
        """The files that each path is linked with, in either direction; paths without links are omitted."""
        return _read_with_cache(self._neighbours, paths, self._linked_paths, frozenset())

    def texts(self, paths: Iterable[str]) -> dict[str, tuple[LinkText, ...]]:
        """For each path, the texts of links to it from other notes, in order. Links that show no text of
        their own, and paths without any others, are omitted."""
        return _read_with_cache(self._texts, paths, self._link_texts, ())

    def _link_texts(self, paths: list[str], marks: str) -> dict[str, tuple[LinkText, ...]]:
        sql = (
            "SELECT l.resolved, l.display, count(*), min(n.path) FROM links l JOIN notes n USING (note_id)"
            f" WHERE l.resolved IN ({marks}) AND l.display NOTNULL AND l.resolved != n.path"
            " GROUP BY l.resolved, l.display ORDER BY l.resolved, l.display"
        )
        found: dict[str, tuple[LinkText, ...]] = {}
        for path, *shown in self._catalog.rows(sql, paths):
            found[path] = (*found.get(path, ()), LinkText(*shown))
        return found

    def _count(self, paths: list[str], marks: str) -> dict[str, int]:
        sql = f"SELECT path, count(*) FROM ({_NEIGHBOURS.format(marks=marks)}) GROUP BY path"
        # Twice: the query has the marks in both of its halves.
        return dict(self._catalog.rows(sql, paths + paths))

    def _linked_paths(self, paths: list[str], marks: str) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for path, other in self._catalog.rows(_NEIGHBOURS.format(marks=marks), paths + paths):
            found[path].add(other)
        return {path: frozenset(others) for path, others in found.items()}

    def orphans(self) -> list[tuple[str, str]]:
        """The path and title of the notes without edges, ordered by path. A document is not a note."""
        found = self._catalog.rows(
            "SELECT n.path, n.title FROM notes n WHERE NOT EXISTS (SELECT 1 FROM links l"
            " WHERE l.note_id = n.note_id AND l.resolved NOTNULL AND l.resolved != n.path)"
            " AND NOT EXISTS (SELECT 1 FROM links l WHERE l.resolved = n.path AND l.note_id != n.note_id)"
            " ORDER BY n.path"
        )
        return [(path, title) for path, title in found if kind_of(path) is not FileKind.DOCUMENT]

    def unresolved_links(self) -> list[tuple[str, str, int, str]]:
        """The target as written, path, line and kind of every unresolved link, by path and place."""
        return self._catalog.rows(
            "SELECT l.target, n.path, l.line, l.kind FROM links l JOIN notes n USING (note_id)"
            " WHERE l.resolved IS NULL ORDER BY n.path, l.ord"
        )

    def note_pairs(self) -> list[tuple[str, str, int]]:
        """Every pair of notes with links from the first to the second, and their number, in order."""
        return self._catalog.rows(
            "SELECT n.path, m.path, count(*) FROM links l JOIN notes n USING (note_id)"
            " JOIN notes m ON m.path = l.resolved WHERE m.note_id != n.note_id"
            " GROUP BY n.path, m.path ORDER BY n.path, m.path"
        )

    def links_among(self, paths: Collection[str]) -> dict[tuple[str, str], int]:
        """The number of links from each of the paths to each other one."""
        sql = (
            "SELECT n.path, l.resolved, count(*) FROM links l JOIN notes n USING (note_id)"
            " WHERE n.path IN (%s) AND l.resolved != n.path GROUP BY n.path, l.resolved"
        )
        rows = self._catalog.rows_in(sql, paths)
        return {(path, other): links for path, other, links in rows if other in paths}

    def networkx(self) -> nx.MultiDiGraph[str]:
        """The whole graph. Nodes are vault paths; their `kind` is "note", "linked" (an attachment) or
        "skipped" (not indexed, but a note links to it). Edges have the attributes of `Edge`, with chunks by
        chunk id."""
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        sql = "SELECT path, state FROM files WHERE state != 'skipped' OR path IN (SELECT resolved FROM links)"
        for path, state in self._catalog.rows(sql):
            graph.add_node(path, kind=state)
        chunk_ids: dict[int | None, str] = dict(self._catalog.rows("SELECT key, chunk_id FROM chunks"))
        named = ("kind", "subpath", "display", "line", "count")
        for edge in self.place_edges(self._edges("", [])):
            attributes = {name: getattr(edge, name) for name in named}
            attributes["source_chunk"] = chunk_ids.get(edge.source_chunk)
            attributes["target_chunk"] = chunk_ids.get(edge.target_chunk)
            graph.add_edge(edge.source, edge.target, **attributes)
        return graph

    def _edges(self, where: str, values: list[str]) -> list[Edge]:
        return [Edge(*row[:-1]) for row in self._catalog.rows(_EDGES.format(where=where), values)]


def _place_edge(edge: Edge, places: LinkPlaces) -> Edge:
    source = places.chunk_at(edge.source, edge.start)
    target = places.find_chunk(edge.target, edge.subpath, slugs=edge.kind == LinkKind.MARKDOWN).chunk
    return replace(edge, source_chunk=source and source.key, target_chunk=target and target.key)


def _read_with_cache(
    known: LruCache[str, Value],
    paths: Iterable[str],
    read: Callable[[list[str], str], Mapping[str, Value]],
    nothing: Value,
) -> dict[str, Value]:
    """The values of paths, from the cache `known` or from `read`. Values equal to `nothing` are cached as
    well, and omitted."""

    def read_all(missing: list[str]) -> dict[str, Value]:
        found = dict.fromkeys(missing, nothing)
        for batch, marks in _batches(missing):
            found.update(read(batch, marks))
        return found

    return {path: value for path, value in known.get_all(paths, read_all).items() if value != nothing}


def _batches(paths: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    """Yields the distinct paths in batches, each with its parameter marks."""
    for batch in batches(list(dict.fromkeys(paths)), _BATCH):
        yield batch, ",".join("?" * len(batch))
