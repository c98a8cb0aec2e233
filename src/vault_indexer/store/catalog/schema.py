"""The catalog's tables.

A chunk's body is not stored: it is a span of its note's text, which is stored once, compressed.
`changes` is the log that the derived indices follow: every commit has a number (`seq`) and lists the
chunk keys that came (`op` 1), went (`op` 0), and got the vector that they were stored without (`op` 2: only
the vector index follows that). Vectors are float16, one per distinct text and model; a chunk with a
`text_hash` that has none is *owed* one. `block_spans` and `tasks` answer filters on places without parsing.
`chunk_words` has the distinct words of a chunk that have a vector, by number (uint16, little endian,
ascending).
"""

from __future__ import annotations

CATALOG_VERSION = 3

DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  seen_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (
  note_id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
  language TEXT NOT NULL, frontmatter TEXT NOT NULL, aliases TEXT NOT NULL, tags TEXT NOT NULL,
  mtime_ns INTEGER NOT NULL, diagnostics TEXT NOT NULL
);
CREATE INDEX notes_by_language ON notes (language);
CREATE TABLE texts (note_id INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE headings (
  note_id INTEGER NOT NULL, ord INTEGER NOT NULL, level INTEGER NOT NULL, text TEXT NOT NULL,
  start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, line INTEGER NOT NULL, nested INTEGER NOT NULL,
  PRIMARY KEY (note_id, ord)
) WITHOUT ROWID;
CREATE TABLE blocks (
  note_id INTEGER NOT NULL, ord INTEGER NOT NULL, id TEXT NOT NULL,
  start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, line INTEGER NOT NULL,
  PRIMARY KEY (note_id, ord)
) WITHOUT ROWID;
CREATE TABLE links (
  note_id INTEGER NOT NULL, ord INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
  subpath TEXT NOT NULL, display TEXT, start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL,
  line INTEGER NOT NULL, key TEXT NOT NULL, resolved TEXT, ambiguous INTEGER NOT NULL,
  PRIMARY KEY (note_id, ord)
) WITHOUT ROWID;
CREATE INDEX links_by_key ON links (key);
CREATE INDEX links_by_target ON links (resolved);
CREATE TABLE tags (tag TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (tag, note_id)) WITHOUT ROWID;
CREATE INDEX tags_by_note ON tags (note_id);
CREATE TABLE chunks (
  key INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, chunk_id TEXT NOT NULL, chunk_index INTEGER NOT NULL,
  header_path TEXT NOT NULL, start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, strategy TEXT NOT NULL, overlap TEXT NOT NULL,
  context TEXT NOT NULL, preamble TEXT NOT NULL, extra TEXT NOT NULL, text_hash BLOB
);
CREATE INDEX chunks_by_note ON chunks (note_id);
CREATE TABLE models (model INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
  text_hash BLOB NOT NULL, model INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_text ON vectors (text_hash, model);
CREATE TABLE blobs (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE changes (seq INTEGER NOT NULL, key INTEGER NOT NULL, op INTEGER NOT NULL);
CREATE INDEX changes_by_seq ON changes (seq);
"""

PLACES_DDL = """
CREATE TABLE IF NOT EXISTS block_spans (note_id INTEGER PRIMARY KEY, spans BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  note_id INTEGER NOT NULL, start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, is_done INTEGER NOT NULL,
  PRIMARY KEY (note_id, start_pos)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notes_by_title ON notes (title);
CREATE INDEX IF NOT EXISTS files_with_reason ON files (path, state, reason) WHERE reason != '';
"""
"""Since version 2. A catalog of version 1 gets them when it is opened to be written; a note without a row in
`block_spans` was stored before that, and its text is parsed when a filter asks."""

WORDS_DDL = """
CREATE TABLE IF NOT EXISTS chunk_words (key INTEGER PRIMARY KEY, words BLOB NOT NULL);
"""
"""Since version 3; an earlier catalog gets it when it is opened to be written."""
