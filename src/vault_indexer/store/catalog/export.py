"""Exports an index as canonical JSON lines: two equal indices export equal bytes.

The export omits data that may differ between two builds of the same vault: internal ids, seq, inodes and the
times at which files were scanned. A vector is identified by the digest of its text, which determines it for a
given model.
"""

from __future__ import annotations

from collections.abc import Iterator

from vault_indexer.model import JsonValue
from vault_indexer.store.catalog.reader import CatalogReader
from vault_indexer.text.control_characters import json_text


def export_lines(catalog: CatalogReader) -> Iterator[str]:
    """Yields one line per file, then one per note with its headings, blocks, links and chunks, ordered by
    path."""
    for file in catalog.files():
        yield _line(
            {
                "file": file.path,
                "size": file.size,
                "digest": file.digest,
                "state": file.state,
                "reason": file.reason,
            }
        )
    for note in catalog.all_notes():
        structure: dict[str, JsonValue] = {
            name: [list(row) for row in catalog.rows(_STRUCTURE[name], (note.note_id,))]
            for name in _STRUCTURE
        }
        yield _line(
            {
                "note": note.path,
                "title": note.title,
                "language": note.language,
                "frontmatter": dict(note.frontmatter),
                "aliases": list(note.aliases),
                "tags": list(note.tags),
                "text": catalog.text(note.note_id),
                **structure,
                "chunks": list(_chunks(catalog, note.note_id)),
            }
        )


def _chunks(catalog: CatalogReader, note_id: int) -> Iterator[JsonValue]:
    """Returns the chunks of a note with all their fields except the content, which the text contains."""
    digests: dict[int, str] = dict(
        catalog.rows("SELECT key, hex(text_hash) FROM chunks WHERE note_id = ?", (note_id,))
    )
    for row in catalog.chunks_of(note_id):
        said = {name: value for name, value in row.chunk.to_json().items() if name != "content"}
        yield {**said, "text_hash": digests[row.key]}


_STRUCTURE = {
    "headings": "SELECT level, text, start_pos, end_pos, line, nested FROM headings"
    " WHERE note_id = ? ORDER BY ord",
    "blocks": "SELECT id, start_pos, end_pos, line FROM blocks WHERE note_id = ? ORDER BY ord",
    "links": "SELECT kind, target, subpath, display, start_pos, end_pos, line, resolved, ambiguous"
    " FROM links WHERE note_id = ? ORDER BY ord",
}


def _line(value: dict[str, JsonValue]) -> str:
    return json_text(value, is_compact=True, is_sorted=True)
