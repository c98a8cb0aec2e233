"""Copies notes between catalogs, on disk or in memory, as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from vault_indexer.model import FileRow
from vault_indexer.store.catalog.note_rows import NoteTableRows, PreparedNote, pack_spans
from vault_indexer.store.catalog.reader import CatalogReader, Row
from vault_indexer.store.catalog.writer import IN_MEMORY, CatalogWriter, ResolvedLink

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


@dataclass(frozen=True, slots=True)
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
            words=[words.get(row[0], b"") for row in own] if words else (),
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
    order = {"texts": "1", "block_spans": "1", "tags": "tag", "tasks": "start_pos", "chunks": "key"}
    by = order.get(table, "ord")
    sql = f"SELECT note_id, {columns} FROM {table} WHERE note_id IN (%s) ORDER BY note_id, {by}"
    return catalog.rows_in(sql, [row[0] for row in notes])


def _grouped(rows: Iterable[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for note_id, *row in rows:
        found.setdefault(note_id, []).append(tuple(row))
    return found
