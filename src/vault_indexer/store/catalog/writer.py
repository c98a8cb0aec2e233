"""The single connection that writes the catalog. Each edit is one transaction with a number (`seq`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from vault_indexer.errors import DamagedError
from vault_indexer.model import FileRow, chunk_key
from vault_indexer.store.catalog.integrity import (
    PageSums,
    damaged_pages,
    load_sums,
    read_log,
    record_page_checksums,
    recovered_sums,
    save_sums,
    unusable,
    updated_checksums,
)
from vault_indexer.store.catalog.note_rows import (
    ADDED,
    EMBEDDED,
    REMOVED,
    NoteTableRows,
    PreparedNote,
    Values,
)
from vault_indexer.system import record

# A chunk's body is not stored: it is a span of its note's text, which is stored once, compressed. `changes`
# is the log that derived indices follow. Every commit has a number (`seq`) and lists the chunk keys that were
# added (`op` 1), removed (`op` 0), or received a vector after they were stored (`op` 2: relevant only to the
# vector index). Vectors are float16, one per distinct text and model. A chunk with a `text_hash` but no
# vector is *owed* one. `block_spans` and `tasks` answer filters on places without parsing. `chunk_words`
# contains the distinct words of a chunk that have a vector, by number (uint16, little endian, ascending).


CATALOG_VERSION = 4

_DDL = """
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

_LATER_DDL = """
CREATE TABLE IF NOT EXISTS block_spans (note_id INTEGER PRIMARY KEY, spans BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
  note_id INTEGER NOT NULL, start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, is_done INTEGER NOT NULL,
  PRIMARY KEY (note_id, start_pos)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notes_by_title ON notes (title);
CREATE INDEX IF NOT EXISTS files_with_reason ON files (path, state, reason) WHERE reason != '';
CREATE TABLE IF NOT EXISTS chunk_words (key INTEGER PRIMARY KEY, words BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS fields (
  name TEXT NOT NULL, note_id INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (name, note_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS fields_by_note ON fields (note_id);
"""
"""Since version 2, `chunk_words` since 3, `fields` since 4. An earlier catalog gets these tables when it is
opened for writing. A note without a row in `block_spans` was stored before version 2, and its text is parsed
when a filter needs it."""

IN_MEMORY = Path(":memory:")
"""The path of a catalog without a file; for `bulk`."""

LINKED_SEQ = "linked_seq"
"""The key in `meta` for the seq of the last commit that changed a file other than a note."""

TRIMMED = "trimmed"
"""The key in `meta` for the seq after which the table `changes` is complete."""

_REACH_OF_OLD_LOG = """
INSERT OR IGNORE INTO meta SELECT ?,
  coalesce((SELECT min(seq) - 1 FROM changes), (SELECT value FROM meta WHERE key = 'seq'))
"""
"""Earlier builds did not record `trimmed`, so it is derived from the existing log."""

_LONG_LOG_BYTES = 4 << 20
_TABLES_OF_NOTES = (
    *("chunks", "links", "headings", "blocks", "block_spans", "tasks", "tags", "fields", "texts", "notes"),
)


@record
class ResolvedLink:
    """The target of a link, and the key by which `relink` finds the link (see `parse.link_key`)."""

    key: str
    path: str | None
    ambiguous: bool


Resolve = Callable[[str, str], ResolvedLink]
"""Maps a link's target as written and the path of its note to the resolved link."""


class CatalogWriter:
    """Writes notes, files and links; every `commit()` block is one transaction and one seq.

    An `IndexWriter` or a build owns a writer, and only one thread at a time may use it. A commit is atomic
    and on disk when its block ends; if the block raises, nothing has changed. The table `changes` records the
    chunks that each commit added and removed, so that derived indices can follow. Readers use `CatalogReader`
    instead.

    `bulk=True` is for a generation under construction: no journal, no fsync per commit, no change log;
    `close()` then makes the whole file durable.
    """

    def __init__(self, path: Path, *, bulk: bool = False) -> None:
        self.path = path
        self._bulk = bulk
        self._sums = PageSums()
        self._sums_behind = False
        self._linked_changed = False
        fresh = not path.exists()
        # Without an isolation level, the module begins no transactions of its own.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._open(fresh)
            self._seq = int(self._meta("seq"))
            self._models: dict[str, int] = dict(self._db.execute("SELECT name, model FROM models"))
        except (sqlite3.DatabaseError, TypeError) as error:
            self._db.close()
            raise unusable(path, error) from error
        except BaseException:
            self._db.close()
            raise

    def _open(self, fresh: bool) -> None:
        if self._bulk:
            self._db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;")
        else:
            if not fresh:
                self._vouch()
            # FULL: with NORMAL, a power failure may take back the last commits. `fullfsync` matters on macOS.
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON;")
        self._db.executescript(
            # The text of a deleted note must not remain in free pages. Only `checkpoint` may copy the log,
            # because it saves the checksums.
            "PRAGMA secure_delete=ON; PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=0;"
        )
        if fresh:
            self._db.executescript(f"BEGIN; {_DDL} {_LATER_DDL} COMMIT;")
            self._set_meta("version", CATALOG_VERSION)
            self._set_meta("seq", 0)
            self._set_meta(TRIMMED, 0)
            if not self._bulk:
                self.checkpoint()
        else:
            self._db.executescript(_LATER_DDL)
            self._db.execute(_REACH_OF_OLD_LOG, (TRIMMED,))

    @property
    def seq(self) -> int:
        """The number of the last commit."""
        return self._seq

    @contextmanager
    def commit(self) -> Iterator[CatalogWriter]:
        """Makes all writes of the block visible and durable together, under the next seq.

        If the commit fails, nothing changes: raises DiskFullError if the disk is full, else
        IndexUnusableError.
        """
        try:
            # A failed checkpoint must save its checksums first: this commit may restart the log, which still
            # identifies the copied pages.
            if self._sums_behind:
                self.checkpoint()
            self._db.execute("BEGIN IMMEDIATE")
        except (sqlite3.DatabaseError, OSError) as error:
            raise unusable(self.path, error) from error
        self._seq += 1
        self._linked_changed = False
        try:
            yield self
            self._set_meta("seq", self._seq)
            if self._bulk:  # bulk writes are not logged
                self._set_meta(TRIMMED, self._seq)
            if self._linked_changed:
                self._set_meta(LINKED_SEQ, self._seq)
            self._db.execute("COMMIT")
        except BaseException as error:
            self._seq -= 1
            # SQLite itself rolls back after some errors, such as a full disk.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError):
                raise unusable(self.path, error) from error
            raise

    def put_note(
        self, prepared: PreparedNote, resolve: Resolve, model: str, note_id: int | None = None
    ) -> int:
        """Stores a note and replaces any note at its path. Returns its id: a new one that was never used
        before, unless the caller builds a generation and passes one."""
        rows = prepared.rows
        self.remove_note(rows.path)
        cursor = self._db.execute(
            "INSERT INTO notes (note_id, path, title, language, frontmatter, aliases, tags, diagnostics,"
            " mtime_ns) VALUES (?,?,?,?,?,?,?,?,?)",
            (note_id, rows.path, *rows.note, prepared.file.mtime_ns),
        )
        new_id = int(cursor.lastrowid or 0)
        self._db.execute("INSERT INTO texts VALUES (?,?)", (new_id, rows.text))
        self._insert_structure(new_id, rows, resolve)
        self._insert_chunks(new_id, rows)
        self.put_vectors(prepared.vectors, model)
        self.put_file(prepared.file)
        return new_id

    def remove_note(self, path: str) -> None:
        """Removes a note and everything that belongs to it, if it exists. Its vectors remain as a cache."""
        found = self._db.execute("SELECT note_id FROM notes WHERE path = ?", (path,)).fetchone()
        if found is None:
            return
        if not self._bulk:
            self._db.execute(
                # First: the keys are read from the rows that are deleted below.
                "INSERT INTO changes SELECT ?, key, ? FROM chunks WHERE note_id = ?",
                (self._seq, REMOVED, found[0]),
            )
        # `chunk_words` has no note_id: the keys of a note's chunks form a range.
        keys = chunk_key(found[0], 0), chunk_key(found[0] + 1, 0)
        self._db.execute("DELETE FROM chunk_words WHERE key >= ? AND key < ?", keys)
        for table in _TABLES_OF_NOTES:
            self._db.execute(f"DELETE FROM {table} WHERE note_id = ?", found)

    def put_file(self, row: FileRow) -> None:
        former = self._db.execute("SELECT state FROM files WHERE path = ?", (row.path,)).fetchone()
        # Only files other than notes, before or after the change, affect the cached names of attachments.
        self._linked_changed |= {row.state, *(former or ())} != {"note"}
        values = (row.path, row.size, row.mtime_ns, row.ctime_ns, row.inode, row.digest, row.state)
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?,?)", (*values, row.reason, row.seen_ns)
        )
        self._db.execute(
            "UPDATE notes SET mtime_ns = ? WHERE path = ? AND mtime_ns != ?",
            (row.mtime_ns, row.path, row.mtime_ns),
        )

    def forget_digest(self, path: str) -> None:
        """Makes the next scan read this file again, even if its stat is unchanged."""
        self._db.execute("UPDATE files SET digest = '', mtime_ns = 0 WHERE path = ?", (path,))

    def remove_file(self, path: str) -> None:
        self.remove_note(path)
        gone = self._db.execute("DELETE FROM files WHERE path = ? AND state != 'note'", (path,)).rowcount
        self._linked_changed |= bool(gone)
        self._db.execute("DELETE FROM files WHERE path = ?", (path,))

    def link_keys(self) -> list[str]:
        return [str(key) for (key,) in self._db.execute("SELECT DISTINCT key FROM links")]

    def relink(self, keys: Iterable[str], resolve: Resolve) -> int:
        """Resolves every link with one of these keys again. Returns the number of links whose target
        changed."""
        moved = 0
        for key in sorted(keys):
            rows = self._db.execute(
                "SELECT l.note_id, l.ord, l.target, n.path, l.resolved, l.ambiguous"
                " FROM links l JOIN notes n USING (note_id) WHERE l.key = ?",
                (key,),
            ).fetchall()
            for note_id, order, target, source, path, ambiguous in rows:
                found = resolve(target, source)
                if (found.path, found.ambiguous) != (path, bool(ambiguous)):
                    moved += 1
                    self._db.execute(
                        "UPDATE links SET resolved = ?, ambiguous = ? WHERE note_id = ? AND ord = ?",
                        (found.path, found.ambiguous, note_id, order),
                    )
        return moved

    def put_vectors(self, vectors: Mapping[bytes, bytes], model: str) -> None:
        """Stores vectors (float16 bytes) by the digest of their text and the model's key."""
        if not vectors:
            return
        if (number := self._models.get(model)) is None:
            number = self._db.execute("INSERT INTO models (name) VALUES (?)", (model,)).lastrowid or 0
            self._models[model] = number
        self._db.executemany(
            # A text that is known already has the same vector.
            "INSERT OR IGNORE INTO vectors VALUES (?,?,?)",
            ((digest, number, vector) for digest, vector in vectors.items()),
        )

    def log_embedded(self, keys: Iterable[int]) -> None:
        """Logs that chunks stored without a vector now have one, so that the vector index adds it."""
        self._log(keys, EMBEDDED)

    def purge_vectors(self) -> int:
        """Deletes the vectors of texts that no chunk has. Returns their number."""
        return self._db.execute(
            "DELETE FROM vectors WHERE text_hash NOT IN"
            " (SELECT text_hash FROM chunks WHERE text_hash NOTNULL)"
        ).rowcount

    def put_blob(self, name: str, data: bytes) -> None:
        """Stores a named value that belongs to the generation (such as token weights)."""
        self._db.execute("INSERT OR REPLACE INTO blobs VALUES (?,?)", (name, data))

    def trim_changes(self, applied_seq: int) -> None:
        """Deletes the log entries that every derived index has applied. Raises IndexUnusableError."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM changes WHERE seq <= ?", (applied_seq,))
            self._set_meta(TRIMMED, max(applied_seq, self._meta(TRIMMED)))
            self._db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise unusable(self.path, error) from error

    @property
    def log_is_long(self) -> bool:
        log = self.path.with_name(self.path.name + "-wal")
        return log.exists() and log.stat().st_size > _LONG_LOG_BYTES

    def checkpoint(self) -> bool:
        """Copies the write-ahead log into the database as far as readers allow. Returns whether all of it was
        copied.

        No commit restarts the log before the checksums of the copied pages are on disk. Raises
        IndexUnusableError or OSError if they cannot be written; the next commit then retries this first.
        """
        log = read_log(self.path)
        self._sums_behind = True
        try:
            _, logged, copied = self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.DatabaseError as error:
            raise unusable(self.path, error) from error
        # Pages copied by an earlier checkpoint keep their checksum: the file may have been damaged since.
        known = self._sums.copied if self._sums.salt == log.salt else 0
        sums = updated_checksums(self.path, self._sums, set(log.pages[known : max(0, copied)]))
        sums.salt, sums.logged, sums.copied = log.salt, max(0, logged), max(0, copied)
        if sums != self._sums:
            save_sums(self.path, sums)
            self._sums = sums
        self._sums_behind = False
        return bool(logged == copied)

    def empty_log(self) -> bool:
        """Checkpoints and truncates the log file. Returns False if a reader still needs it."""
        if not self.checkpoint():
            return False
        # Nothing is left to copy now: SQLite would copy pages without updating their checksums.
        busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def corruption(self) -> str:
        """Describes the damage to the bytes of the file ("" if there is none)."""
        self.checkpoint()
        log = read_log(self.path)
        found = damaged_pages(self.path, self._sums, set(log.pages[self._sums.copied : self._sums.logged]))
        shown = ", ".join(map(str, found[:3]))
        return f"{len(found)} of its pages are damaged, among them {shown}" if found else ""

    def release(self) -> sqlite3.Connection:
        """Returns the connection of a catalog in memory for a reader. The writer must not be used
        afterwards."""
        return self._db

    def close(self) -> None:
        """Closes the connection. A catalog that was built in bulk then gets a write-ahead log."""
        if self._bulk:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.close()
            record_page_checksums(self.path)
        elif self.checkpoint():
            self._db.close()
        else:
            self._close_beside_readers()

    def _close_beside_readers(self) -> None:
        """Closes without a checkpoint by SQLite. The last connection to close would copy the log without
        updating the checksums; a reader that closes last does not."""
        last = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
        last.execute("SELECT count(*) FROM meta").fetchone()
        self._db.close()
        last.close()

    def _vouch(self) -> None:
        """Raises DamagedError unless every page matches its checksum or is in the log."""
        self._sums = load_sums(self.path)
        log = read_log(self.path)
        _, logged, _ = self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        recovered_sums(self.path, self._sums, log, max(0, logged))
        found = damaged_pages(self.path, self._sums, set(log.pages[: max(0, logged)]))
        if found:
            raise DamagedError(f"index {self.path}: {len(found)} of its pages are damaged")
        self.checkpoint()

    def _meta(self, key: str) -> int:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return int(row[0])

    def _set_meta(self, key: str, value: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?,?)", (key, value))

    def _insert_structure(self, note_id: int, rows: NoteTableRows, resolve: Resolve) -> None:
        insert = self._db.executemany
        insert("INSERT INTO headings VALUES (?,?,?,?,?,?,?,?)", _with_numbers(note_id, rows.headings))
        insert("INSERT INTO blocks VALUES (?,?,?,?,?,?)", _with_numbers(note_id, rows.blocks))
        self._db.execute("INSERT INTO block_spans VALUES (?,?)", (note_id, rows.block_spans))
        insert("INSERT INTO tasks VALUES (?,?,?,?)", ((note_id, *task) for task in rows.tasks))
        insert("INSERT INTO tags VALUES (?,?)", ((tag, note_id) for tag in rows.tags))
        insert("INSERT INTO fields VALUES (?,?,?)", ((name, note_id, value) for name, value in rows.fields))
        links = []
        for order, link in enumerate(rows.links):
            found = resolve(str(link[1]), rows.path)
            links.append((note_id, order, *link, found.key, found.path, found.ambiguous))
        insert("INSERT INTO links VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", links)

    def _insert_chunks(self, note_id: int, rows: NoteTableRows) -> None:
        keys = [chunk_key(note_id, ordinal) for ordinal in range(len(rows.chunks))]
        self._db.executemany(
            f"INSERT INTO chunks VALUES ({','.join('?' * 15)})",
            ((key, note_id, *chunk) for key, chunk in zip(keys, rows.chunks, strict=True)),
        )
        if not self._bulk:
            self._log(keys, ADDED)
        # Not strict: a note that was copied from an older catalog has no words.
        words = zip(keys, rows.words, strict=False)
        self._db.executemany("INSERT INTO chunk_words VALUES (?,?)", words)

    def _log(self, keys: Iterable[int], operation: int) -> None:
        self._db.executemany(
            "INSERT INTO changes VALUES (?,?,?)", ((self._seq, key, operation) for key in keys)
        )


def _with_numbers(note_id: int, rows: Sequence[Values]) -> Iterator[Values]:
    return ((note_id, order, *row) for order, row in enumerate(rows))
