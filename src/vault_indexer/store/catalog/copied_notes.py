"""Notes as one catalog holds them, ready to be stored in another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vault_indexer.model import FileRow
from vault_indexer.store.catalog.note_rows import NoteTableRows, PreparedNote, Values, pack_spans
from vault_indexer.store.catalog.reader import CatalogReader

_NOTE = "title, language, frontmatter, aliases, tags, diagnostics"
_CHUNK = (
    "chunk_id, chunk_index, header_path, start_pos, end_pos, start_line, end_line, strategy, overlap,"
    " context, preamble, extra, text_hash"
)


def copied_notes(catalog: CatalogReader, files: Iterable[FileRow], model: str) -> Iterator[PreparedNote]:
    """The notes of these files, split as they are, with the vectors of the model as far as there are any."""
    for file in files:
        note = catalog.note(file.path)
        if note is not None:
            yield _copied_note(catalog, file, note.note_id, model)


def _copied_note(catalog: CatalogReader, file: FileRow, note_id: int, model: str) -> PreparedNote:
    def rows(columns: str, table: str, order: str = "ord") -> list[Values]:
        sql = f"SELECT {columns} FROM {table} WHERE note_id = ? ORDER BY {order}"
        return [tuple(row) for row in catalog.rows(sql, (note_id,))]

    keys = [key for (key,) in rows("key", "chunks", "key") if isinstance(key, int)]
    words = catalog.chunk_words(keys)
    chunks = rows(_CHUNK, "chunks", "key")
    hashes = [digest for *_, digest in chunks if isinstance(digest, bytes)]
    vectors = catalog.vectors(model, hashes)
    return PreparedNote(
        file=file,
        rows=NoteTableRows(
            path=file.path,
            note=rows(_NOTE, "notes", "note_id")[0],
            text=bytes(catalog.rows("SELECT text FROM texts WHERE note_id = ?", (note_id,))[0][0]),
            headings=rows("level, text, start_pos, end_pos, line, nested", "headings"),
            blocks=rows("id, start_pos, end_pos, line", "blocks"),
            block_spans=pack_spans(catalog.block_spans([note_id]).get(note_id, [])),
            tasks=rows("start_pos, end_pos, is_done", "tasks", "start_pos"),
            tags=[str(tag) for (tag,) in rows("tag", "tags", "tag")],
            links=rows("kind, target, subpath, display, start_pos, end_pos, line", "links"),
            chunks=chunks,
            words=[words.get(key, b"") for key in keys],
        ),
        vectors=vectors,
        embedded=0,
        reused=len(vectors),
    )
