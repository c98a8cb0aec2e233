"""In which chunk a link stands, and at which chunk its subpath points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vault_indexer.model import BlockId
from vault_indexer.parse import Anchors, Subpath
from vault_indexer.store.catalog import CatalogReader


class ChunkSpan(NamedTuple):
    """A chunk's key, id and span."""

    key: int
    chunk_id: str
    start: int
    end: int


class PointedChunk(NamedTuple):
    """The chunk and line that a subpath points at, or the `problem`: it is not there."""

    chunk: ChunkSpan | None = None
    line: int | None = None
    problem: str | None = None


class LinkPlaces:
    """Answers for one question over one catalog state: what it has looked up once it remembers."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._ids: dict[str, int | None] = {}
        self._chunks: dict[str, Sequence[ChunkSpan]] = {}
        self._anchors: dict[str, Anchors] = {}
        self._found: dict[tuple[str, str, bool], PointedChunk] = {}

    def chunk_at(self, path: str, position: int) -> ChunkSpan | None:
        """The smallest chunk of the note that holds the position; none for one in the frontmatter."""
        holding = [chunk for chunk in self._chunks_of(path) if chunk.start <= position < chunk.end]
        return min(holding, key=lambda chunk: (chunk.end - chunk.start, chunk.key), default=None)

    def find_chunk(self, path: str, subpath: str, *, slugs: bool) -> PointedChunk:
        """Where `path#subpath` points; nowhere, without a problem, in a file that is no note (`#page=3`).

        `slugs`: headings may be written as web sites do, for Markdown links.
        """
        wanted = (path, subpath, slugs)
        if wanted not in self._found:
            self._found[wanted] = self._point(*wanted)
        return self._found[wanted]

    def find_span(self, path: str, subpath: str) -> Subpath:
        """The heading or block that `subpath` names in the note `path`, in any form that links use."""
        return self._anchors_of(path).find(subpath, slugs=True)

    def _point(self, path: str, subpath: str, slugs: bool) -> PointedChunk:
        if not subpath or self._note_id(path) is None:
            return PointedChunk()
        place = self._anchors_of(path).find(subpath, slugs=slugs)
        if place.start is None:
            return PointedChunk(problem=place.problem)
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
