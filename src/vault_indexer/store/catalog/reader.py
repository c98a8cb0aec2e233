"""Reads the catalog through one read-only connection in one transaction, which is an immutable state."""

from __future__ import annotations

import json
import sqlite3
import struct
import threading
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from vault_indexer.arrays import spread_ranges
from vault_indexer.errors import DamagedError
from vault_indexer.model import (
    QUARANTINED,
    SPLIT_WITHOUT_MODEL,
    UNREADABLE,
    Chunk,
    ChunkRow,
    DocumentKind,
    FileKind,
    FileRow,
    Heading,
    IndexCounts,
    JsonValue,
    LinkKind,
    LinkRow,
    NoteRow,
    SkippedFile,
    WrittenLink,
    document_kind_of,
    kind_of,
)
from vault_indexer.parse import Task, join_properties
from vault_indexer.store.catalog.catalog_cache import (
    AttachmentNames,
    CatalogCache,
    CountedLanguages,
    Sections,
)
from vault_indexer.store.catalog.integrity import unusable
from vault_indexer.store.catalog.note_rows import Changes, unpack_spans
from vault_indexer.store.catalog.writer import LINKED_SEQ, TRIMMED
from vault_indexer.system import LruCache, batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Keys, WordNumbers


def folder_condition(column: str, folder: str) -> tuple[str, list[str]]:
    """Returns an SQL condition that matches paths in `column` below the folder."""
    return f"{column} >= ? AND {column} < ?", [f"{folder}/", f"{folder}0"]  # "0" follows "/"


def tag_condition(tag: str) -> tuple[str, list[str]]:
    """Returns an SQL condition that matches this tag, spelled as stored, and the tags nested below it."""
    below, bounds = folder_condition("tag", tag)
    return f"tag = ? OR ({below})", [tag, *bounds]


_BATCH = 500
_STREAMED = 4096
_CACHE_KIB = 16_384
_CHUNK_COLUMNS = (
    "key, note_id, chunk_id, chunk_index, header_path, start_pos, end_pos, start_line, end_line,"
    " strategy, overlap, context, preamble, extra, text_hash NOTNULL"
)
_CONTEXT = "text_hash ISNULL AND json_extract(extra, '$.level') = 0"
"""Matches parents that take part in no ranking (`Chunk.is_context`)."""

_OWED = (
    "c.text_hash NOTNULL AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.text_hash = c.text_hash"
    " AND v.model = (SELECT model FROM models WHERE name = ?))"
)
_CHUNK_VECTORS = (
    "SELECT c.key, v.vector FROM chunks c JOIN vectors v USING (text_hash)"
    " WHERE v.model = (SELECT model FROM models WHERE name = ?)"
)
_LANGUAGES = (
    "WITH RECURSIVE found (language) AS (SELECT min(language) FROM notes WHERE language != '' UNION ALL"
    " SELECT (SELECT min(language) FROM notes WHERE language > found.language) FROM found"
    " WHERE found.language NOTNULL) SELECT language FROM found WHERE language NOTNULL"
)
"""Skips through the index from one language to the next: one step per language instead of one per note."""

_LINKS = (
    "SELECT l.note_id, l.ord, n.path, l.kind, l.target, l.subpath, l.display, l.line, l.key, l.resolved,"
    " l.ambiguous FROM links l JOIN notes n USING (note_id)"
)
_REMEMBERED = 8_192
"""The maximum number of cached rows of each kind. A rule of thumb."""

_KEYS_REMEMBERED = 100_000
"""The maximum number of cached chunk keys. A rule of thumb."""

_NOTE_COLUMNS = "note_id, path, title, language, frontmatter, aliases, tags, mtime_ns"

EXTRACTORS = "extractors"
"""The blob with the version of the extractors that read the documents of a catalog."""

SqlValue = str | int | float | bytes | None
Row = tuple[Any, ...]


def _section_start(above: Sequence[Heading]) -> int:
    return above[-1].start


class CatalogReader:
    """Reads the catalog as it was when the reader was opened.

    A snapshot owns a reader and closes it with the last lease; other callers open one in a `with` block. The
    reader has one read-only connection in one read transaction, so later commits are not visible. Any thread
    may call any method: a lock guards the connection. Errors of SQLite are raised as those of `errors`.
    """

    def __init__(
        self, path: Path, cache: CatalogCache | None = None, connection: sqlite3.Connection | None = None
    ) -> None:
        """Opens the file, or reads through the `connection` to a catalog in memory."""
        self._lock = threading.Lock()
        self._path = path
        self._cache = cache or CatalogCache()
        self._forget_state()
        try:
            self._db = connection or sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
            )
            # In addition to `mode=ro`, which does not apply to a connection to memory.
            self._db.execute("PRAGMA query_only=ON")
            self._db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
            self._db.execute("BEGIN")
            # The first read starts the transaction: until then, a reader sees no fixed state.
            self._tables = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master")}
            self.seq = self._meta("seq")
        except (sqlite3.DatabaseError, TypeError, IndexError) as error:
            raise unusable(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def rows(self, sql: str, values: Sequence[SqlValue] = ()) -> list[Row]:
        """Returns all rows of a read-only statement. For packages that work on the index; other code does not
        use table names.

        Raises DamagedError if SQLite finds the file damaged, and IndexUnusableError if it cannot be read.
        """
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise unusable(self._path, error) from error

    def batches(self, sql: str, values: Sequence[SqlValue] = ()) -> Iterator[list[Row]]:
        """Yields the rows of a statement in lists of a few thousand, read lazily, for results too large for
        memory. The reader must stay open until the last list."""
        try:
            with self._lock:
                cursor = self._db.execute(sql, values)
            # The lock is released between batches, so that a long export does not stop other readers.
            while True:
                with self._lock:
                    batch = cursor.fetchmany(_STREAMED)
                if not batch:
                    return
                yield batch
        except sqlite3.DatabaseError as error:
            raise unusable(self._path, error) from error

    def _key_array(self, sql: str, values: Sequence[SqlValue] = ()) -> Keys:
        """Returns the single column of a statement as an array of numbers."""
        found = [np.fromiter((row[0] for row in batch), np.int64) for batch in self.batches(sql, values)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def rows_in(self, sql: str, wanted: Iterable[SqlValue], *after: SqlValue) -> Iterator[Row]:
        """Yields the rows of a statement with one list of distinct values (`%s`), read lazily in batches.
        `after` contains the parameters that follow the list."""
        for batch in batches(list(wanted), _BATCH):
            # Rounding up limits the number of different statements, which sqlite3 keeps prepared. A value
            # that is repeated to fill the list matches no row twice.
            size = min(1 << (len(batch) - 1).bit_length(), _BATCH)
            batch += batch[-1:] * (size - len(batch))
            yield from self.rows(sql % ",".join("?" * size), (*batch, *after))

    def _forget_state(self) -> None:
        """Clears the caches of everything that can change while a note keeps its id."""
        # Callers often request the state, and each of these scans the whole catalog.
        self._counts: IndexCounts | None = None
        self._read_documents: dict[str, int] | None = None
        self._documents_with: dict[str, dict[str, tuple[str, str]]] = {}
        self._skipped: tuple[SkippedFile, ...] | None = None
        # Searches read the same rows repeatedly, those of about a hundred notes each.
        self._notes: LruCache[int, NoteRow] = LruCache(_REMEMBERED)
        self._modified: LruCache[int, int] = LruCache(_REMEMBERED)
        self._documents: LruCache[int, int] = LruCache(_REMEMBERED)
        self._files: LruCache[str, FileRow] = LruCache(_REMEMBERED)
        self._keys_by_path: LruCache[str, tuple[int, ...]] = LruCache(_KEYS_REMEMBERED, len)
        self._attachments: AttachmentNames | None = None

    def refresh_transaction(self) -> None:
        """Ends the transaction, so that the next read sees the newest state and the older one no longer has
        to be kept for this reader. For long-lived readers that read rarely."""
        with self._lock:
            self._db.execute("ROLLBACK")
            self._db.execute("BEGIN")
            self._forget_state()

    def counts(self) -> IndexCounts:
        """Returns the numbers of notes, chunks, links and unresolved links; counted once."""
        if self._counts is None:
            row = self._one(
                "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM chunks),"
                " (SELECT count(*) FROM links), (SELECT count(*) FROM links WHERE resolved IS NULL)"
            )
            self._counts = IndexCounts(*row)
        return self._counts

    def languages(self) -> CountedLanguages:
        """Returns the languages of the notes, without those of unknown language. They are recounted after a
        hundredth of the notes has been written, or when a language appears or disappears."""
        present = frozenset(row[0] for row in self.rows(_LANGUAGES))
        last_id = int(self._one("SELECT max(note_id) FROM notes")[0] or 0)
        known = self._cache.languages
        if known is None or known.is_stale(present, last_id):
            counts = {language: count for language, count in self.notes_by_language().items() if language}
            known = self._cache.languages = CountedLanguages(counts, last_id)
        return known

    def notes_by_language(self) -> dict[str, int]:
        """Returns the number of notes in each language; "" means unknown."""
        return dict(self.rows("SELECT language, count(*) FROM notes GROUP BY language"))

    def files(self) -> list[FileRow]:
        """Returns all files as last scanned, ordered by path."""
        return [FileRow(*row) for row in self.rows("SELECT * FROM files ORDER BY path")]

    def files_within(self, scope: Iterable[str]) -> list[FileRow]:
        """Returns the files at and below these paths, ordered by path."""
        found: dict[str, FileRow] = {}
        for path in scope:
            below, bounds = folder_condition("path", path)
            sql = f"SELECT * FROM files WHERE path = ? OR ({below})"
            found.update((row[0], FileRow(*row)) for row in self.rows(sql, [path, *bounds]))
        return [found[path] for path in sorted(found)]

    def exists(self, path: str) -> bool:
        below, bounds = folder_condition("path", path)
        sql = f"SELECT 1 FROM files WHERE (path = ? OR ({below})) AND state != 'skipped' LIMIT 1"
        return bool(self.rows(sql, [path, *bounds]))

    def top_folders(self) -> list[str]:
        """Returns the folders at the root of the vault, in order. Their contents are not read."""
        # "0" follows "/", so the next step skips everything below the folder.
        after = "CASE instr(p, '/') WHEN 0 THEN p || ' ' ELSE substr(p, 1, instr(p, '/') - 1) || '0' END"
        sql = (
            "WITH RECURSIVE first(p) AS (SELECT min(path) FROM files UNION ALL"
            f" SELECT (SELECT min(path) FROM files WHERE path >= {after}) FROM first WHERE p IS NOT NULL)"
            " SELECT substr(p, 1, instr(p, '/') - 1) FROM first WHERE instr(p, '/')"
        )
        return sorted(str(folder) for (folder,) in self.rows(sql))

    def file_count(self) -> int:
        return int(self._one("SELECT count(*) FROM files")[0])

    def skipped_files(self) -> tuple[SkippedFile, ...]:
        """Returns the files that are not indexed as their author intended, with the reason; queried once."""
        if self._skipped is None:
            sql = "SELECT path, reason, state FROM files WHERE reason != '' ORDER BY path"
            self._skipped = tuple(
                SkippedFile(path, reason, state == "note") for path, reason, state in self.rows(sql)
            )
        return self._skipped

    def notes_without_model(self) -> dict[str, str]:
        """Returns the notes that were split without the language model that their strategy uses, in order,
        with their digests. A note without a digest comes from an earlier index."""
        sql = (
            "SELECT path, digest FROM files WHERE state = 'note' AND digest != '' AND instr(reason, ?) > 0"
            " ORDER BY path"
        )
        return {str(path): str(digest) for path, digest in self.rows(sql, (SPLIT_WITHOUT_MODEL,))}

    def quarantine(self) -> dict[str, tuple[int, str]]:
        """Returns the notes that crashed the process that read them, exceeded its limits or could not be
        read, in order. Each has the `mtime_ns` and digest of the change that did so, because two saves may
        have the same time."""
        sql = (
            "SELECT path, mtime_ns, digest FROM files WHERE reason != ''"
            " AND (state = 'skipped' AND substr(reason, 1, ?) = ? OR substr(reason, 1, ?) = ?) ORDER BY path"
        )
        found = self.rows(sql, (len(QUARANTINED), QUARANTINED, len(UNREADABLE), UNREADABLE))
        return {str(path): (int(mtime), str(digest)) for path, mtime, digest in found}

    def file(self, path: str) -> FileRow | None:
        found = self.rows("SELECT * FROM files WHERE path = ?", (path,))
        return FileRow(*found[0]) if found else None

    def files_at(self, paths: Iterable[str]) -> dict[str, FileRow]:
        """Returns files by path, as last scanned; unknown paths are omitted."""

        def read(missing: list[str]) -> dict[str, FileRow]:
            found = self.rows_in("SELECT * FROM files WHERE path IN (%s)", missing)
            return {row[0]: FileRow(*row) for row in found}

        return self._files.get_all(paths, read)

    def attachments(self) -> AttachmentNames:
        """Returns the names of all attachments and unreadable notes. They are read again only after one of
        them has changed."""
        if self._attachments is not None:
            return self._attachments
        stamp = self._meta(LINKED_SEQ, 0)
        names = self._cache.attachments
        if names is None or names.stamp != stamp:
            # Notes that the user excludes from search are link targets as well: their names are not searched.
            rows = self.rows(
                "SELECT path, mtime_ns, state, reason FROM files"
                " WHERE state = 'linked' OR (state = 'skipped' AND reason != '') ORDER BY mtime_ns DESC, path"
            )
            files = (
                (path, mtime_ns)
                for path, mtime_ns, state, reason in rows
                if (state == "linked" if (kind := kind_of(path)) is FileKind.ATTACHMENT else reason)
                or kind is FileKind.DOCUMENT
            )
            names = self._cache.attachments = AttachmentNames(stamp, files)
        self._attachments = names
        return names

    def linked_documents(self, kinds: Iterable[DocumentKind]) -> dict[str, int]:
        """The number of files of each kind that are only link targets, without kinds that have none."""
        suffixes = {suffix: kind.name for kind in kinds for suffix in kind.suffixes}
        if not suffixes:
            return {}
        sums = ", ".join(["sum(path LIKE ?)"] * len(suffixes))
        sql = f"SELECT {sums} FROM files WHERE state = 'linked'"
        counts = self.rows(sql, [f"%{suffix}" for suffix in suffixes])[0]
        found = Counter[str]()
        for name, count in zip(suffixes.values(), counts, strict=True):
            found[name] += count or 0
        return dict(+found)

    def note(self, path: str) -> NoteRow | None:
        found = self.rows(f"SELECT {_NOTE_COLUMNS} FROM notes WHERE path = ?", (path,))
        return NoteRow(*found[0]) if found else None

    def notes(self, note_ids: Iterable[int]) -> dict[int, NoteRow]:
        def read(missing: list[int]) -> dict[int, NoteRow]:
            found = self.rows_in(f"SELECT {_NOTE_COLUMNS} FROM notes WHERE note_id IN (%s)", missing)
            return {row[0]: NoteRow(*row) for row in found}

        return self._notes.get_all(note_ids, read)

    def shared_titles(self, titles: Iterable[str]) -> frozenset[str]:
        """Returns the titles that several notes share; none if the catalog has no index of titles yet."""
        if "notes_by_title" not in self._tables:
            return frozenset()
        sql = "SELECT title FROM notes WHERE title IN (%s) GROUP BY title HAVING count(*) > 1"
        return frozenset(title for (title,) in self.rows_in(sql, sorted(set(titles))))

    def modified_times(self, note_ids: Iterable[int]) -> dict[int, int]:
        """The modified times of notes, in nanoseconds; unknown ids are omitted."""
        sql = "SELECT note_id, mtime_ns FROM notes WHERE note_id IN (%s)"
        return self._modified.get_all(note_ids, lambda missing: dict(self.rows_in(sql, missing)))

    def documents_among(self, note_ids: Iterable[int]) -> dict[int, int]:
        """Those of the notes that are documents, with their numbers of chunks."""
        count = "(SELECT count(*) FROM chunks WHERE chunks.note_id = notes.note_id)"
        sql = f"SELECT note_id, path, {count} FROM notes WHERE note_id IN (%s)"

        def read(missing: list[int]) -> dict[int, int]:
            rows = self.rows_in(sql, missing)
            return {
                note_id: count if kind_of(path) is FileKind.DOCUMENT else 0 for note_id, path, count in rows
            }

        return {note_id: count for note_id, count in self._documents.get_all(note_ids, read).items() if count}

    def all_notes(self) -> list[NoteRow]:
        """All notes, ordered by path."""
        return [NoteRow(*row) for row in self.rows(f"SELECT {_NOTE_COLUMNS} FROM notes ORDER BY path")]

    def note_ids(self) -> list[int]:
        return [row[0] for row in self.rows("SELECT note_id FROM notes ORDER BY note_id")]

    def note_paths(self) -> list[str]:
        """The paths of all notes, in order. Much faster than `all_notes`."""
        return [row[0] for row in self.rows("SELECT path FROM notes ORDER BY path")]

    def text(self, note_id: int) -> str:
        """The note's text as it was indexed ("" for an unknown id)."""
        return self.texts([note_id]).get(note_id, "")

    def texts(self, note_ids: Iterable[int]) -> dict[int, str]:
        """The texts of notes as they were indexed; unknown ids are omitted."""
        try:
            return {note_id: text.decode("utf-8") for note_id, text in self.encoded_texts(note_ids).items()}
        except UnicodeDecodeError as error:
            raise DamagedError(f"index {self._path}: a text is not UTF-8: {error}") from error

    def encoded_texts(self, note_ids: Iterable[int], *, evict: bool = True) -> dict[int, bytes]:
        """The same texts in UTF-8, for callers that read many texts and decode few. Without `evict`, the
        texts that other callers have read recently stay in the cache."""

        def read(missing: list[int]) -> dict[int, bytes]:
            texts: dict[int, bytes] = {}
            sql = "SELECT note_id, text FROM texts WHERE note_id IN (%s)"
            for note_id, packed in self.rows_in(sql, sorted(missing)):
                try:
                    texts[note_id] = zlib.decompress(packed)
                except zlib.error as error:
                    raise DamagedError(f"index {self._path}: text of note {note_id}: {error}") from error
            return texts

        return self._cache.texts.get_all(note_ids, read, evict=evict)

    def chunks(self, keys: Iterable[int]) -> dict[int, ChunkRow]:
        def read(missing: list[int]) -> dict[int, ChunkRow]:
            found = self.rows_in(f"SELECT {_CHUNK_COLUMNS} FROM chunks WHERE key IN (%s)", missing)
            return {row.key: row for row in self._chunk_rows(list(found))}

        return self._cache.chunks.get_all(keys, read)

    def chunk_shapes(self, keys: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The number within its note and the length of each chunk, by key. Chunks without a vector are
        omitted, because they have hardly any text."""
        sql = (
            "SELECT key, chunk_index, end_pos - start_pos FROM chunks WHERE key IN (%s) AND text_hash NOTNULL"
        )
        return {key: (index, length) for key, index, length in self.rows_in(sql, keys)}

    def chunks_of(self, note_id: int) -> list[ChunkRow]:
        """A note's chunks in order."""
        found = self.rows(f"SELECT {_CHUNK_COLUMNS} FROM chunks WHERE note_id = ? ORDER BY key", (note_id,))
        return self._chunk_rows(found)

    def chunk_keys_at(self, paths: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The keys of the chunks of notes by path, ascending; unknown paths are omitted."""

        def read(missing: list[str]) -> dict[str, tuple[int, ...]]:
            sql = (
                "SELECT n.path, c.key FROM notes n JOIN chunks c USING (note_id) WHERE n.path IN (%s)"
                " ORDER BY c.key"
            )
            found: dict[str, list[int]] = {}
            for path, key in self.rows_in(sql, missing):
                found.setdefault(path, []).append(key)
            return {path: tuple(keys) for path, keys in found.items()}

        return self._keys_by_path.get_all(paths, read)

    def chunk_keys(self) -> set[int]:
        return set(self.chunk_key_array().tolist())

    def chunk_key_array(self) -> Keys:
        """The keys of the chunks that take part in rankings, ascending: all except context parents."""
        # Few chunks are context, so they are subtracted from the cheap list of all.
        context = self._key_array(f"SELECT key FROM chunks WHERE {_CONTEXT} ORDER BY key")
        return np.setdiff1d(self._all_keys(), context, assume_unique=True)

    def keys_of_level(self, level: int) -> Keys:
        """The keys of the chunks that are parents (0) or children (1), ascending."""
        sql = "SELECT key FROM chunks WHERE json_extract(extra, '$.level') = ? ORDER BY key"
        return self._key_array(sql, (level,))

    def _all_keys(self) -> Keys:
        """The keys of all chunks, ascending."""
        # A note's keys are usually one contiguous range, so one row per note instead of one per chunk is
        # enough: a fifth of the rows.
        sql = "SELECT min(key), max(key) + 1, count(*) FROM chunks GROUP BY note_id ORDER BY note_id"
        rows = [np.array(batch, np.int64) for batch in self.batches(sql)]
        firsts, ends, counts = np.concatenate([np.empty((0, 3), np.int64), *rows]).T
        if not np.array_equal(ends - firsts, counts):
            return self._key_array("SELECT key FROM chunks ORDER BY key")
        return spread_ranges(firsts, ends)[1]

    def embedded_keys(self) -> Keys:
        """The keys of all chunks whose text is to be embedded, ascending."""
        without = self._key_array("SELECT key FROM chunks WHERE text_hash ISNULL ORDER BY key")
        return np.setdiff1d(self._all_keys(), without, assume_unique=True)

    def vectors(self, model: str, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """The stored float16 vectors of the model, by digest of the text."""
        sql = (
            "SELECT text_hash, vector FROM vectors WHERE text_hash IN (%s)"
            " AND model = (SELECT model FROM models WHERE name = ?)"
        )
        return dict(self.rows_in(sql, digests, model))

    def chunk_vectors(self, model: str, keys: Iterable[int]) -> list[tuple[int, bytes]]:
        """The key and float16 vector of each of the given chunks; chunks without a vector are omitted."""
        # The list of parameters comes first, because `rows_in` puts the others behind it.
        sql = _CHUNK_VECTORS.replace("WHERE v", "WHERE c.key IN (%s) AND v")
        return list(self.rows_in(sql, keys, model))

    def all_chunk_vectors(self, model: str) -> Iterator[tuple[int, bytes]]:
        """Yields the key and float16 vector of all chunks that have a vector, ordered by key, read lazily."""
        for batch in self.batches(f"{_CHUNK_VECTORS} ORDER BY c.key", (model,)):
            yield from batch

    def embedded_count(self) -> int:
        """The number of chunks whose text is to be embedded: an upper bound for the number of vectors."""
        return int(self._one("SELECT count(text_hash) FROM chunks")[0])

    def missing_vectors(self, model: str, keys: Iterable[int] | None = None) -> dict[int, bytes]:
        """The text digest of every chunk (or of the given ones) that lacks its vector. Ordered by key if
        `keys` is None."""
        sql = f"SELECT c.key, c.text_hash FROM chunks c WHERE {{keys}} {_OWED}"
        if keys is None:
            return dict(self.rows(sql.format(keys="") + " ORDER BY c.key", (model,)))
        return dict(self.rows_in(sql.format(keys="c.key IN (%s) AND"), keys, model))

    def missing_count(self, model: str) -> int:
        return int(self._one(f"SELECT count(*) FROM chunks c WHERE {_OWED}", (model,))[0])

    def newest_missing(self, model: str, limit: int) -> list[int]:
        """At most `limit` of the chunks that lack a vector, most recently changed notes first."""
        sql = (
            f"SELECT c.key FROM chunks c JOIN notes n USING (note_id) WHERE {_OWED}"
            " ORDER BY n.mtime_ns DESC, c.key LIMIT ?"
        )
        return [int(row[0]) for row in self.rows(sql, (model, limit))]

    def nonzero_vector_keys(self, model: str) -> list[int]:
        """The chunks whose vectors belong in the vector index: a vector of zeros has no direction."""
        return [key for key, vector in self.all_chunk_vectors(model) if vector.strip(b"\0")]

    def changes(self, since: int) -> Changes | None:
        """Returns the net changes of the commits after number `since`. Returns None if the log does not reach
        back that far, or the catalog has lost that commit; a derived index must then compare keys."""
        if not self._meta(TRIMMED, 0) <= since <= self.seq:
            return None
        changes = Changes()
        # The index has the order of the rows, so no older row is read.
        for key, op in self.rows("SELECT key, op FROM changes WHERE seq > ? ORDER BY seq, rowid", (since,)):
            changes.note(int(key), int(op))
        return changes

    def headings(self, note_id: int) -> list[Heading]:
        """A note's headings in order."""
        columns = "level, text, start_pos, end_pos, line, nested"
        rows = self.rows(f"SELECT {columns} FROM headings WHERE note_id = ? ORDER BY ord", (note_id,))
        return [Heading(*[*row[:5], bool(row[5])]) for row in rows]

    def headings_between(self, note_id: int, start: int, end: int) -> list[Heading]:
        """The headings of the outline that begin at or after `start` and before `end`, in order."""
        sections = self.sections([note_id])[note_id]
        first = bisect_left(sections, start, key=_section_start)
        return [
            above[-1] for above in sections[first : bisect_left(sections, end, first, key=_section_start)]
        ]

    def headings_above(self, note_id: int, pos: int) -> tuple[Heading, ...]:
        """The headings whose sections contain `pos`, outermost first."""
        sections = self.sections([note_id])[note_id]
        number = bisect_right(sections, pos, key=_section_start)
        return sections[number - 1] if number else ()

    def sections(self, note_ids: Iterable[int]) -> dict[int, Sections]:
        """The headings of notes that are not nested, in order, each with the headings above it, outermost
        first; empty for an unknown id."""

        def read(missing: list[int]) -> dict[int, Sections]:
            sql = (
                "SELECT note_id, level, text, start_pos, end_pos, line FROM headings"
                " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
            )
            found: dict[int, list[tuple[Heading, ...]]] = {note_id: [] for note_id in missing}
            for note_id, level, *rest in self.rows_in(sql, sorted(missing)):
                last = found[note_id][-1] if found[note_id] else ()
                above = (one for one in last if one.level < level)
                found[note_id].append((*above, Heading(level, *rest)))
            return {note_id: tuple(sections) for note_id, sections in found.items()}

        return self._cache.sections.get_all(note_ids, read)

    def chunk_words(self, keys: Iterable[int]) -> dict[int, bytes]:
        """The word numbers (uint16, ascending) of chunks, by key. Chunks stored before the catalog recorded
        them are omitted."""
        if "chunk_words" not in self._tables:
            return {}
        sql = "SELECT key, words FROM chunk_words WHERE key IN (%s)"
        return self._cache.words.get_all(keys, lambda missing: dict(self.rows_in(sql, missing)))

    def load_chunk_words(self) -> None:
        """Preloads the words of all chunks, up to the limit of the cache. A single search needs those of
        about a hundred chunks, each at a different place in the file."""
        sql = "SELECT key, words FROM chunk_words"
        for batch in self.batches(sql) if "chunk_words" in self._tables else ():
            if not self._cache.words.add(dict(batch)):
                return

    def block_spans(self, note_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
        """The spans of the notes' blocks; notes stored before the catalog recorded them are omitted."""
        if "block_spans" not in self._tables:
            return {}
        sql = "SELECT note_id, spans FROM block_spans WHERE note_id IN (%s)"
        try:
            return {note_id: unpack_spans(packed) for note_id, packed in self.rows_in(sql, note_ids)}
        except (zlib.error, struct.error, ValueError) as error:
            raise DamagedError(f"index {self._path}: spans of blocks: {error}") from error

    def tasks(self, note_ids: Iterable[int]) -> dict[int, list[Task]]:
        """The notes' tasks in order; notes stored before the catalog recorded them are omitted."""
        wanted = list(note_ids)
        if "block_spans" not in self._tables:
            return {}
        # A note with a row here was stored with its tasks, even if it has none.
        kept = self.rows_in("SELECT note_id FROM block_spans WHERE note_id IN (%s)", wanted)
        found: dict[int, list[Task]] = {row[0]: [] for row in kept}
        columns = "note_id, start_pos, end_pos, is_done"
        sql = f"SELECT {columns} FROM tasks WHERE note_id IN (%s) ORDER BY start_pos"
        for note_id, start, end, is_done in self.rows_in(sql, wanted):
            found[note_id].append(Task(start, end, bool(is_done)))
        return found

    def notes_with_task(self, states: Iterable[bool]) -> list[int]:
        """The notes that have a task in one of the states (done: True), and the notes whose tasks the catalog
        did not record."""
        if "block_spans" not in self._tables:
            return [row[0] for row in self.rows("SELECT note_id FROM notes")]
        sql = (
            "SELECT note_id FROM tasks WHERE is_done IN (%s) UNION"
            " SELECT note_id FROM notes WHERE note_id NOT IN (SELECT note_id FROM block_spans)"
        )
        return sorted({row[0] for row in self.rows_in(sql, [int(state) for state in states])})

    def fields(self, note_ids: Iterable[int]) -> dict[int, dict[str, JsonValue]]:
        """The properties in the notes' texts, by their folded names; notes without any are omitted."""
        return {
            note_id: {name: json.loads(value) for name, value in rows}
            for note_id, rows in self.field_rows(note_ids).items()
        }

    def field_rows(self, note_ids: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
        """As `fields`, with the values as JSON."""
        found: dict[int, list[tuple[str, str]]] = {}
        sql = "SELECT note_id, name, value FROM fields WHERE note_id IN (%s) ORDER BY note_id, name"
        for note_id, name, value in self.rows_in(sql, note_ids) if "fields" in self._tables else ():
            found.setdefault(note_id, []).append((name, value))
        return found

    def fields_named(self, name: str) -> list[tuple[int, JsonValue]]:
        """The notes that have this folded name in their texts, with its value."""
        sql = "SELECT note_id, value FROM fields WHERE name = ?"
        rows = self.rows(sql, (name,)) if "fields" in self._tables else ()
        return [(int(note_id), json.loads(value)) for note_id, value in rows]

    def folders(self) -> dict[str, int]:
        """The folders with the number of notes in or below each, the fullest first."""
        parts = (path.split("/")[:-1] for path in self.note_paths())
        counts = Counter("/".join(names[:end]) for names in parts for end in range(1, len(names) + 1))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def tags(self) -> dict[str, int]:
        """The tags in their stored form with the number of notes that have each, the most frequent first."""
        return dict(self.rows("SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY 2 DESC, 1"))

    def properties(self) -> Iterator[Mapping[str, JsonValue]]:
        """The properties of each note that has any, in its frontmatter and its text."""
        with_fields = self.rows("SELECT DISTINCT note_id FROM fields") if "fields" in self._tables else ()
        fields = self.fields(note_id for (note_id,) in with_fields)
        for note_id, frontmatter in self.rows("SELECT note_id, frontmatter FROM notes"):
            if frontmatter != "{}" or note_id in fields:
                yield join_properties(json.loads(frontmatter), fields.get(note_id, {}))

    def links_from(self, path: str) -> list[LinkRow]:
        """A note's links in order of appearance."""
        rows = self.rows(f"{_LINKS} WHERE n.path = ? ORDER BY l.ord", (path,))
        return [LinkRow(*[*row[:10], bool(row[10])]) for row in rows]

    def blob(self, name: str) -> bytes | None:
        found = self.rows("SELECT data FROM blobs WHERE name = ?", (name,))
        return bytes(found[0][0]) if found else None

    def read_documents(self) -> dict[str, int]:
        """The number of documents of each kind that are read, without kinds that have none; counted once."""
        if self._read_documents is None:
            kinds = (document_kind_of(path) for (path,) in self.rows("SELECT path FROM notes"))
            self._read_documents = dict(sorted(Counter(kind.name for kind in kinds if kind).items()))
        return self._read_documents

    def documents_with(self, name: str) -> dict[str, tuple[str, str]]:
        """The documents that have this property, in order, each with the digest of its file and the value;
        looked up once."""
        if name not in self._documents_with:
            sql = (
                "SELECT n.path, f.digest, json_extract(n.frontmatter, ?) FROM notes n"
                " JOIN files f ON f.path = n.path WHERE instr(n.frontmatter, ?) > 0 ORDER BY n.path"
            )
            found = self.rows(sql, (f"$.{name}", f'"{name}"'))
            self._documents_with[name] = {
                path: (digest, str(value))
                for path, digest, value in found
                if value and document_kind_of(path)
            }
        return self._documents_with[name]

    def document_text(self, path: str, digest: str, version: str) -> str | None:
        """The text of a document with this content and of the same kind, whatever its path; None if the
        catalog has none or other extractors made it."""
        if self.blob(EXTRACTORS) != version.encode():
            return None
        sql = "SELECT n.note_id, n.path FROM notes n JOIN files f ON f.path = n.path WHERE f.digest = ?"
        known = self.rows(f"{sql} AND f.path = ?", (digest, path)) or self.rows(sql, (digest,))
        kind = document_kind_of(path)
        return next((self.text(note_id) for note_id, own in known if document_kind_of(own) == kind), None)

    @property
    def version(self) -> int:
        """The form of the tables, `CATALOG_VERSION` when they were created."""
        return self._meta("version")

    def _meta(self, key: str, *default: int) -> int:
        """Returns a value of the table `meta`. Raises IndexError if it is missing and has no default."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return int([*(row[0] for row in found), *default][0])

    def _one(self, sql: str, values: Sequence[SqlValue] = ()) -> Row:
        return self.rows(sql, values)[0]

    def _chunk_rows(self, rows: Sequence[Row]) -> list[ChunkRow]:
        texts = self.texts(int(row[1]) for row in rows)
        links = self._written_links({int(row[1]) for row in rows})
        return [_chunk_row(row, texts.get(row[1], ""), links[row[1]]) for row in rows]

    def _written_links(self, note_ids: Set[int]) -> dict[int, list[WrittenLink]]:
        """The links of each note, in order of their places."""
        links: dict[int, list[WrittenLink]] = {note_id: [] for note_id in note_ids}
        sql = "SELECT note_id, start_pos, kind, target FROM links WHERE note_id IN (%s) ORDER BY start_pos"
        for note_id, start, kind, target in self.rows_in(sql, note_ids):
            links[note_id].append(WrittenLink(start, LinkKind(kind), target))
        return links


def _chunk_row(row: Row, text: str, links: list[WrittenLink]) -> ChunkRow:
    # The columns are the fields of `Chunk` in their order, without the body.
    key, note_id, chunk_id, index, header_path, start, end, first_line, last_line, *rest = row
    strategy, overlap, context, preamble, extra, embed = rest
    loaded = json.loads(extra)
    place = (chunk_id, index, header_path, start, end, first_line, last_line)
    around = (strategy, overlap, context, preamble, loaded if isinstance(loaded, dict) else {})
    return ChunkRow(key, note_id, Chunk(*place, text[start:end], *around, bool(embed)).with_links(links))


_PACKED_WORD = "<u2"


def pack_words(numbers: WordNumbers) -> bytes:
    """Packs the numbers of a chunk's words as the catalog stores them, for `unpack_words`."""
    return numbers.astype(_PACKED_WORD).tobytes()


def unpack_words(packed: Sequence[bytes]) -> tuple[WordNumbers, NDArray[np.int64]]:
    """Returns the word numbers of several chunks concatenated, and the number of words in each chunk."""
    numbers = np.frombuffer(b"".join(packed), _PACKED_WORD)
    sizes = np.array([len(one) for one in packed], np.int64) // numbers.itemsize
    return numbers.astype(np.uint16, copy=False), sizes
