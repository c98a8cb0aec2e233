"""Copies notes between catalogs, on disk or in memory, as rows, and exports a catalog as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from vault_indexer.model import FileRow, JsonValue
from vault_indexer.store.catalog.note_rows import NoteTableRows, PreparedNote, pack_spans
from vault_indexer.store.catalog.reader import CatalogReader, Row
from vault_indexer.store.catalog.writer import IN_MEMORY, CatalogWriter, ResolvedLink
from vault_indexer.system import record
from vault_indexer.text.control_characters import json_text

_NOTES = (
    "SELECT note_id, path, mtime_ns, title, language, frontmatter, aliases, tags, diagnostics"
    " FROM notes WHERE note_id IN (%s) ORDER BY note_id"
)
_LINKS = "kind, target, subpath, display, start_pos, end_pos, line, resolved"
_CHUNKS = (
    "chunk_id, chunk_index, header_path, start_pos, end_pos, start_line, end_line, strategy, overlap, context"
    ", preamble, extra, text_hash"
)
_NO_SPANS = b""


@record
class StoredNote:
    """A note with its id, rows and modified time, and the resolved path of each of its links."""

    note_id: int
    modified_ns: int
    rows: NoteTableRows
    resolved: tuple[str | None, ...]


def stored_notes(catalog: CatalogReader, note_ids: Iterable[int]) -> Iterator[StoredNote]:
    """The notes with these ids, ascending; unknown ids are omitted."""
    found = list(catalog.rows_in(_NOTES, sorted(set(note_ids))))
    texts = {row[0]: row[1] for row in _of_notes(catalog, found, "texts", "text")}
    spans = {row[0]: row[1] for row in _of_notes(catalog, found, "block_spans", "spans")}
    headings = _grouped(
        _of_notes(catalog, found, "headings", "level, text, start_pos, end_pos, line, nested")
    )
    blocks = _grouped(_of_notes(catalog, found, "blocks", "id, start_pos, end_pos, line"))
    tasks = _grouped(_of_notes(catalog, found, "tasks", "start_pos, end_pos, is_done"))
    tags = _grouped(_of_notes(catalog, found, "tags", "tag"))
    fields = catalog.field_rows(row[0] for row in found)
    links = _grouped(_of_notes(catalog, found, "links", _LINKS))
    chunks = _grouped(_of_notes(catalog, found, "chunks", f"key, {_CHUNKS}"))
    for note_id, path, modified_ns, *note in found:
        own = chunks.get(note_id, [])
        words = catalog.chunk_words(row[0] for row in own)
        rows = NoteTableRows(
            path=str(path),
            note=tuple(note),
            text=texts[note_id],
            headings=headings.get(note_id, ()),
            blocks=blocks.get(note_id, ()),
            block_spans=spans.get(note_id, _NO_SPANS),
            tasks=tasks.get(note_id, ()),
            tags=[str(tag) for (tag,) in tags.get(note_id, ())],
            links=[row[:-1] for row in links.get(note_id, ())],
            chunks=[row[1:] for row in own],
            # An older catalog has no words, which differs from chunks without any.
            words=[words.get(row[0], b"") for row in own] if words else (),
            fields=fields.get(note_id, ()),
        )
        resolved = tuple(None if row[-1] is None else str(row[-1]) for row in links.get(note_id, ()))
        yield StoredNote(note_id, int(modified_ns), rows, resolved)


def copied_notes(catalog: CatalogReader, files: Iterable[FileRow], model: str) -> Iterator[PreparedNote]:
    """The notes of these files as stored, with the existing vectors of the model."""
    for file in files:
        note = catalog.note(file.path)
        for stored in stored_notes(catalog, [note.note_id] if note else []):
            hashes = [digest for *_, digest in stored.rows.chunks if isinstance(digest, bytes)]
            vectors = catalog.vectors(model, hashes)
            rows = replace(stored.rows, block_spans=stored.rows.block_spans or pack_spans([]))
            yield PreparedNote(file, rows, vectors, embedded=0, reused=len(vectors))


def catalog_of(notes: Iterable[StoredNote]) -> CatalogReader:
    """Builds a catalog in memory that contains only these notes, with their ids. Links keep their targets."""
    writer = CatalogWriter(IN_MEMORY, bulk=True)
    with writer.commit():
        for note in notes:
            # `put_note` resolves the links in their order, so each gets the stored target of its turn.
            led = iter(note.resolved)
            file = FileRow(note.rows.path, 0, note.modified_ns, 0, 0, "", "note")
            writer.put_note(
                PreparedNote(file, note.rows, {}, 0, 0),
                lambda target, _, led=led: ResolvedLink(target, next(led), ambiguous=False),  # type: ignore[misc]
                "",
                note.note_id,
            )
    return CatalogReader(IN_MEMORY, connection=writer.release())


def _of_notes(catalog: CatalogReader, notes: Iterable[Row], table: str, columns: str) -> Iterator[Row]:
    """Yields the rows of a table for each of the notes, in the order of the table's key."""
    # "1" sorts by the note id, because these tables have one row for each note.
    order = {"texts": "1", "block_spans": "1", "tags": "tag", "tasks": "start_pos", "chunks": "key"}
    by = order.get(table, "ord")
    sql = f"SELECT note_id, {columns} FROM {table} WHERE note_id IN (%s) ORDER BY note_id, {by}"
    return catalog.rows_in(sql, [row[0] for row in notes])


def _grouped(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for note_id, *row in rows:
        found.setdefault(note_id, []).append(tuple(row))
    return found


# Exports an index as canonical JSON lines: two equal indices export equal bytes.
#
# The export omits data that may differ between two builds of the same vault: internal ids, seq, inodes
# and the times at which files were scanned. A vector is identified by the digest of its text, which
# determines it for a given model.


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
                "fields": catalog.fields([note.note_id]).get(note.note_id, {}),
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
