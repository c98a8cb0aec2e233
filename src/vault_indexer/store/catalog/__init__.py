"""The catalog in SQLite, the only authority: notes, chunks, links, vectors. No other code uses sqlite3."""

from __future__ import annotations

from vault_indexer.store.catalog.catalog_cache import (
    AttachmentNames,
    CatalogCache,
    CountedLanguages,
    fold_path,
)
from vault_indexer.store.catalog.integrity import SqliteError, is_full, is_sound, unusable
from vault_indexer.store.catalog.note_rows import Changes, NoteTableRows, PreparedNote, note_rows
from vault_indexer.store.catalog.reader import (
    EXTRACTORS,
    CatalogReader,
    Row,
    folder_condition,
    pack_words,
    tag_condition,
    unpack_words,
)
from vault_indexer.store.catalog.stored_notes import (
    StoredNote,
    catalog_of,
    copied_notes,
    export_lines,
    stored_notes,
)
from vault_indexer.store.catalog.writer import CATALOG_VERSION, CatalogWriter, ResolvedLink

__all__ = [
    "CATALOG_VERSION",
    "EXTRACTORS",
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
