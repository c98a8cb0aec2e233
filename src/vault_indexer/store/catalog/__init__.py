"""The catalog in SQLite, the only authority: notes, chunks, links, vectors. Only here is sqlite3 known."""

from __future__ import annotations

from vault_indexer.store.catalog.catalog_cache import (
    AttachmentNames,
    CatalogCache,
    CountedLanguages,
    fold_path,
)
from vault_indexer.store.catalog.export import export_lines
from vault_indexer.store.catalog.integrity import SqliteError, is_full, is_sound, unusable
from vault_indexer.store.catalog.note_rows import (
    Changes,
    NoteTableRows,
    PreparedNote,
    note_rows,
    pack_words,
    unpack_words,
)
from vault_indexer.store.catalog.reader import CatalogReader, Row, folder_condition, tag_condition
from vault_indexer.store.catalog.stored_notes import StoredNote, catalog_of, copied_notes, stored_notes
from vault_indexer.store.catalog.writer import CatalogWriter, ResolvedLink

__all__ = [
    "AttachmentNames",
    "CatalogCache",
    "CatalogReader",
    "CatalogWriter",
    "Changes",
    "CountedLanguages",
    "NoteTableRows",
    "PreparedNote",
    "ResolvedLink",
    "Row",
    "SqliteError",
    "StoredNote",
    "catalog_of",
    "copied_notes",
    "export_lines",
    "fold_path",
    "folder_condition",
    "is_full",
    "is_sound",
    "note_rows",
    "pack_words",
    "stored_notes",
    "tag_condition",
    "unpack_words",
    "unusable",
]
