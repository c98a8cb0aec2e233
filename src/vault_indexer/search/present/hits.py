"""A ranked chunk as an answer shows it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from vault_indexer.model import ChunkRow, Hit, NoteRow, Why
from vault_indexer.search.present.snippet import Snippet


def hit_of(note: NoteRow, row: ChunkRow, score: float, why: Why, shown: Snippet) -> Hit:
    """A chunk with its note, its score and the reasons."""
    chunk = row.chunk
    return Hit(
        path=note.path,
        title=note.title,
        header_path=chunk.header_path,
        chunk_id=chunk.chunk_id,
        chunk_index=chunk.chunk_index,
        start_pos=chunk.start_pos,
        end_pos=chunk.end_pos,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=score,
        snippet=shown.text,
        content=chunk.content,
        modified_time=iso_time(note.mtime_ns),
        tags=note.tags,
        stale=False,
        why=why,
        aliases=note.aliases,
        frontmatter=note.frontmatter,
        marks=shown.marks,
        line=chunk.start_line + chunk.body.count("\n", 0, shown.start),
    )


def iso_time(time_ns: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def obsidian_uri(vault: Path, path: str) -> str:
    """Opens the note in Obsidian, in whatever vault of its holds the file: the form with an absolute path,
    percent-encoded, needs no name of a vault."""
    return f"obsidian://open?path={quote(str(vault / path), safe='')}"
