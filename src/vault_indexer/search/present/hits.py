"""From ranked chunks to the hits of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from vault_indexer.model import (
    HEADER_SEPARATOR,
    ChunkRow,
    FileKind,
    FileRow,
    Hit,
    NoteRow,
    Passage,
    Why,
    kind_of,
    language_of_path,
)
from vault_indexer.parse import SOURCE_FENCE, open_fence, property_text, stem
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.present.passage import Expansion, passage_of
from vault_indexer.search.present.snippet import ChunkHeading, Snippets
from vault_indexer.text.times import iso_time
from vault_indexer.vault.read import is_unchanged

_FENCE_REACH = 32_768
"""Characters before a chunk that are read to know whether it begins in code. A rule of thumb."""


class RankedChunk(NamedTuple):
    """A chunk that an answer shows: its key, its score relative to the best one's, the reasons, its
    relevance, and the copies of its note."""

    key: int
    score: float
    why: Why
    relevance: float
    copies: tuple[str, ...] = ()


class HitBuilder:
    """Builds the hits of one vault for one answer from ranked chunks; nothing else makes a `Hit`.

    A search makes one for itself and uses it in its own thread, while it holds the snapshot. The builder
    reads chunks and notes from the catalog, makes the snippets, adds passages if an expansion is given, and
    with `stale` looks up (one `stat` a note) which files have changed since they were indexed. Where the
    vault has no folder it leaves the file system alone: no hit is stale then, and none has a URI.
    """

    def __init__(
        self,
        query: PreparedQuery,
        snippets: Snippets,
        *,
        expansion: Expansion | None = None,
        stale: bool = True,
    ) -> None:
        self._catalog = query.snapshot.catalog
        self._deadline = query.deadline
        self._chosen = query.chosen
        self._vault = query.vault.name
        self._folder = query.vault.folder
        self._snippets = snippets
        self._expansion = expansion
        self._stale = stale
        self._parents: set[tuple[int, int, int]] = set()
        self._in_obsidian = self._folder is not None and is_obsidian_vault(self._folder)

    def build(self, chunks: Iterable[RankedChunk]) -> dict[int, Hit]:
        """The hit of each chunk by its key, in order; none for a chunk that is gone. Raises
        QueryTimeoutError or QueryCancelledError at the deadline."""
        ranked = list(chunks)
        rows = self._catalog.chunks([one.key for one in ranked])
        notes = self._shown(self._catalog.notes({row.note_id for row in rows.values()}))
        self._catalog.outlines(notes)  # all at once; what the chunks need of them is then known
        stale = self._changed_files(note.path for note in notes.values())
        return dict(self._hits(ranked, rows, notes, stale))

    def of_files(self, paths: Sequence[str], score: float, why: Why) -> tuple[Hit, ...]:
        """One hit for each of these attachments, in order: it has a name and no text."""
        stale = self._changed_files(paths)
        known = self._catalog.files_at(paths)
        return tuple(self._of_file(known[path], score, why, stale) for path in paths if path in known)

    def _of_file(self, file: FileRow, score: float, why: Why, stale: Collection[str]) -> Hit:
        return Hit(
            path=file.path,
            title=file.path.rpartition("/")[2],
            header_path="",
            chunk_id="",
            chunk_index=0,
            start_pos=0,
            end_pos=0,
            start_line=1,
            end_line=1,
            score=score,
            snippet=f"not read: {file.reason}" if file.state == "skipped" else "",
            content="",
            modified_time=iso_time(file.mtime_ns),
            tags=(),
            stale=file.path in stale and file.state != "skipped",
            why=why,
            line=1,
            uri=self._uri(file.path),
            relevance=1.0,
            vault=self._vault,
            kind="base" if file.path.lower().endswith(".base") else "attachment",
        )

    def _hits(
        self,
        ranked: Iterable[RankedChunk],
        rows: dict[int, ChunkRow],
        notes: dict[int, NoteRow],
        stale: Collection[str],
    ) -> Iterator[tuple[int, Hit]]:
        for one in ranked:
            self._deadline.check()
            if one.key in rows:
                row = rows[one.key]
                yield one.key, self._hit(one, row, notes[row.note_id], stale)

    def _hit(self, ranked: RankedChunk, row: ChunkRow, note: NoteRow, stale: Collection[str]) -> Hit:
        chunk, why = row.chunk, ranked.why
        headings = self._headings(row, note)
        matched = why.keyword.terms if why.keyword else {}
        places = (
            [
                (start - chunk.start_pos, end - chunk.start_pos)
                for start, end in self._chosen.places_in(row.note_id, chunk.start_pos, chunk.end_pos)
            ]
            if self._chosen
            else []
        )
        snippet = self._snippets.of(chunk.body, matched, headings, self._fence(row, note), places)
        return Hit(
            path=note.path,
            title=note.title,
            header_path=self._header_path(row, headings, snippet.at),
            chunk_id=chunk.chunk_id,
            chunk_index=chunk.chunk_index,
            start_pos=chunk.start_pos,
            end_pos=chunk.end_pos,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            score=ranked.score,
            snippet=snippet.text,
            content=chunk.content,
            modified_time=iso_time(note.mtime_ns),
            tags=note.tags,
            stale=note.path in stale,
            why=why,
            aliases=note.aliases,
            frontmatter=note.frontmatter,
            marks=snippet.marks,
            line=chunk.start_line + chunk.body.count("\n", 0, snippet.at),
            uri=self._uri(note.path),
            strategy=chunk.strategy,
            level=chunk.level,
            parent_id=chunk.parent_id,
            sentence_ids=chunk.sentence_ids,
            passage=self._passage(row) if self._expansion else None,
            kind="canvas" if _is_canvas(note.path) else "note",
            relevance=ranked.relevance,
            language=note.language,
            vault=self._vault,
            copies=ranked.copies,
            chunk=chunk,
        )

    def _passage(self, row: ChunkRow) -> Passage:
        """The text around a hit; a parent is told by its first child alone."""
        assert self._expansion is not None
        found = passage_of(self._catalog, row, self._expansion)
        place = row.note_id, found.start_pos, found.end_pos
        if found.kind == "parent" and place in self._parents:
            return replace(found, text="")
        self._parents.add(place)
        return found

    def _shown(self, notes: dict[int, NoteRow]) -> dict[int, NoteRow]:
        """The notes with the titles that are shown: the file name where the title is a heading that several
        notes begin with, such as "Ingredients"."""
        shared = self._catalog.shared_titles(note.title for note in notes.values())
        return {
            number: replace(note, title=stem(note.path))
            if note.title in shared and not property_text(note.frontmatter, "title")
            else note
            for number, note in notes.items()
        }

    def _uri(self, path: str) -> str:
        if self._folder is None:
            return ""
        return file_uri(self._folder, path, in_obsidian=self._in_obsidian)

    def _headings(self, row: ChunkRow, note: NoteRow) -> list[ChunkHeading]:
        """The headings that divide the chunk. Those of a canvas do not, as each holds in its card alone, and
        those of a source file are code."""
        start, end = row.chunk.start_pos, row.chunk.end_pos
        if _is_canvas(note.path) or language_of_path(note.path):
            return []
        found = self._catalog.headings_between(row.note_id, start, end)
        return [ChunkHeading(one.level, one.start - start, min(one.end, end) - start) for one in found]

    def _header_path(self, row: ChunkRow, headings: Sequence[ChunkHeading], offset: int) -> str:
        """The headings that hold at a place of the chunk's body."""
        if not any(0 < heading.start <= offset for heading in headings):
            return row.chunk.header_path
        above = self._catalog.headings_above(row.note_id, row.chunk.start_pos + offset)
        return HEADER_SEPARATOR.join(heading.text for heading in above)

    def _fence(self, row: ChunkRow, note: NoteRow) -> str:
        """The mark of the code block that the chunk begins in, "" if it begins in none."""
        if language_of_path(note.path):
            return SOURCE_FENCE
        start = row.chunk.start_pos
        above = self._catalog.headings_above(row.note_id, start)
        section = above[-1].start if above else 0
        if section == start or _is_canvas(note.path):
            return ""
        return open_fence(self._catalog.text(row.note_id)[max(section, start - _FENCE_REACH) : start])

    def _changed_files(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of the notes whose file is not as it was indexed."""
        if self._folder is None or not self._stale:
            return frozenset()
        wanted = frozenset(paths)
        known = self._catalog.files_at(wanted)
        return wanted - {path for path, row in known.items() if is_unchanged(self._folder, row)}


def _is_canvas(path: str) -> bool:
    return kind_of(path) is FileKind.CANVAS


def is_obsidian_vault(vault: Path) -> bool:
    """Whether Obsidian has opened the folder as a vault."""
    return (vault / ".obsidian").is_dir()


@lru_cache(maxsize=4096)
def file_uri(vault: Path, path: str, *, in_obsidian: bool) -> str:
    """Opens the file in Obsidian, in whichever of its vaults holds the file, or as the system opens files.

    The form with an absolute, percent-encoded path needs no name of a vault.
    """
    file = vault / path
    return f"obsidian://open?path={quote(str(file), safe='')}" if in_obsidian else file.absolute().as_uri()
