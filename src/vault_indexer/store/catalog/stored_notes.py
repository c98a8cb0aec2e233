"""Copies notes between catalogs, on disk or in memory, as rows, and exports a catalog as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
_STRUCTURE = {
    "headings": "level, text, start_pos, end_pos, line, nested",
    "blocks": "id, start_pos, end_pos, line",
    "links": "kind, target, subpath, display, start_pos, end_pos, line, resolved",
}
_TABLES = _STRUCTURE | {
    "texts": "text",
    "block_spans": "spans",
    "tasks": "start_pos, end_pos, is_done",
    "tags": "tag",
    "chunks": "key, chunk_id, chunk_index, header_path, start_pos, end_pos, start_line, end_line, strategy"
    ", overlap, context, preamble, extra, text_hash",
}
_ORDERS = {"texts": "note_id", "block_spans": "note_id", "tasks": "start_pos", "tags": "tag", "chunks": "key"}
"""How the rows of a note in a table are ordered, if not by their number (`ord`)."""


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
    ids = [row[0] for row in found]
    fields = catalog.field_rows(ids)
    tables = {table: _rows_by_note(catalog, ids, table) for table in _TABLES}
    for note_id, path, modified_ns, *note in found:
        own: dict[str, Sequence[Row]] = {table: rows.get(note_id, ()) for table, rows in tables.items()}
        words = catalog.chunk_words(row[0] for row in own["chunks"])
        rows = NoteTableRows(
            path=str(path),
            note=tuple(note),
            text=own["texts"][0][0],
            headings=own["headings"],
            blocks=own["blocks"],
            block_spans=b"".join(spans for (spans,) in own["block_spans"]),
            tasks=own["tasks"],
            tags=[str(tag) for (tag,) in own["tags"]],
            links=[row[:-1] for row in own["links"]],
            chunks=[row[1:] for row in own["chunks"]],
            # An older catalog has no words, which differs from chunks without any.
            words=[words.get(row[0], b"") for row in own["chunks"]] if words else (),
            fields=fields.get(note_id, ()),
        )
        resolved = tuple(None if row[-1] is None else str(row[-1]) for row in own["links"])
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


def _rows_by_note(catalog: CatalogReader, note_ids: list[int], table: str) -> dict[int, list[Row]]:
    columns, order = _TABLES[table], _ORDERS.get(table, "ord")
    sql = f"SELECT note_id, {columns} FROM {table} WHERE note_id IN (%s) ORDER BY note_id, {order}"
    found: dict[int, list[Row]] = {}
    for note_id, *row in catalog.rows_in(sql, note_ids):
        found.setdefault(note_id, []).append(tuple(row))
    return found


def export_lines(catalog: CatalogReader) -> Iterator[str]:
    """Exports an index as canonical JSON lines, ordered by path: one per file, then one per note with its
    headings, blocks, links and chunks. Two equal indices export equal bytes.

    The export omits data that may differ between two builds of the same vault: internal ids, seq, inodes and
    the times at which files were scanned. A vector is identified by the digest of its text, which determines
    it for a given model.
    """
    for file in catalog.files():
        named = ("size", "digest", "state", "reason")
        yield _line({"file": file.path, **{name: getattr(file, name) for name in named}})
    for note in catalog.all_notes():
        structure: dict[str, JsonValue] = {}
        for table, columns in (_STRUCTURE | {"links": f"{_STRUCTURE['links']}, ambiguous"}).items():
            sql = f"SELECT {columns} FROM {table} WHERE note_id = ? ORDER BY ord"
            structure[table] = [list(row) for row in catalog.rows(sql, (note.note_id,))]
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


def _line(value: dict[str, JsonValue]) -> str:
    return json_text(value, is_compact=True, is_sorted=True)
