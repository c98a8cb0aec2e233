"""From a path to rows: read, parse, cut, embed what no known generation has embedded yet."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.errors import NoteError
from vault_indexer.index.reading import note_from
from vault_indexer.model import Chunk, FileRow, Note
from vault_indexer.ports import Chunker, Embedder
from vault_indexer.store.catalog_reader import CatalogReader
from vault_indexer.store.rows import PreparedNote, note_rows
from vault_indexer.vault.read import NoteVanished, ReadResult, read_note

_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not a note of the index; `file.reason` says why ("" where it has simply gone)."""

    file: FileRow


@dataclass(frozen=True, slots=True)
class Parsed:
    """A note that was read, parsed and cut, before embedding."""

    file: FileRow
    note: Note
    chunks: tuple[Chunk, ...]
    hashes: tuple[bytes | None, ...]


class Preparer:
    """Prepares notes of one vault by one recipe. Known vectors come from `caches`, first match wins."""

    def __init__(
        self,
        vault: Path,
        max_file_bytes: int,
        chunker_of: Callable[[Note], Chunker],
        embedder: Embedder,
        caches: Sequence[CatalogReader] = (),
    ) -> None:
        self._vault = vault
        self._max_file_bytes = max_file_bytes
        self._chunker_of = chunker_of
        self._embedder = embedder
        self._caches = caches
        for cache in caches:
            cache.let_go()  # else the owner could not empty the catalog's log while this worker lives

    def parse(self, path: str) -> Parsed | Skipped:
        """Read and cut one note. A note that cannot be indexed is skipped with its reason."""
        try:
            read = read_note(self._vault, path, self._max_file_bytes)
        except NoteVanished:
            return Skipped(self._unread(path, ""))
        except NoteError as error:
            return Skipped(self._unread(path, str(error)))
        try:
            note = note_from(path, read.data)
            chunks = tuple(self._chunker_of(note).chunk(note))
        except NoteError as error:
            return Skipped(_file_row(read, "skipped", str(error)))
        hashes = tuple(text_digest(chunk.embedding_text) if chunk.embed else None for chunk in chunks)
        return Parsed(_file_row(read, "note"), note, chunks, hashes)

    def set_aside(self, path: str, reason: str) -> Skipped:
        """Name a note without parsing it: it is tried again when the file is another one."""
        try:
            return Skipped(_file_row(read_note(self._vault, path, self._max_file_bytes), "skipped", reason))
        except NoteVanished:
            return Skipped(self._unread(path, ""))
        except NoteError as error:
            return Skipped(self._unread(path, str(error)))

    def warm(self) -> None:
        """Load grammar, strategy and model by preparing a note that does not exist."""
        note = note_from("warm.md", b"# Warm\n\n[[up]] `now`\n")
        self._embedder.embed([chunk.embedding_text for chunk in self._chunker_of(note).chunk(note)])

    def embed(self, batch: Sequence[Parsed]) -> list[PreparedNote]:
        """Vectors for what no cache knows, in one call to the model. Raises ProviderError."""
        texts = {
            digest: chunk.embedding_text
            for parsed in batch
            for chunk, digest in zip(parsed.chunks, parsed.hashes, strict=True)
            if digest is not None
        }
        known = self._known(list(texts))
        missing = [digest for digest in texts if digest not in known]
        made = self._make([texts[digest] for digest in missing])
        vectors = {**known, **dict(zip(missing, made, strict=True))}
        unknown = set(missing)
        return [_prepared(parsed, vectors, unknown) for parsed in batch]

    def prepare(self, paths: Sequence[str]) -> list[PreparedNote | Skipped]:
        """Both steps for several notes; the order is that of `paths`, skipped ones first."""
        results = [self.parse(path) for path in paths]
        skipped = [result for result in results if isinstance(result, Skipped)]
        return [*skipped, *self.embed([result for result in results if isinstance(result, Parsed)])]

    def _unread(self, path: str, reason: str) -> FileRow:
        """A file that could not be read has no times to compare with, so the next scan tries it again.
        Its inode says that it is there, and can be linked to."""
        try:
            inode = (self._vault / path).lstat().st_ino
        except (OSError, ValueError):
            inode = 0
        return FileRow(path, 0, 0, 0, inode, "", "skipped", reason, time.time_ns())

    def _known(self, digests: list[bytes]) -> Mapping[bytes, bytes]:
        known: dict[bytes, bytes] = {}
        for cache in self._caches:
            wanted = [digest for digest in digests if digest not in known]
            known.update(cache.vectors(self._embedder.model.key, wanted))
            cache.let_go()
        return known

    def _make(self, texts: list[str]) -> list[bytes]:
        if not texts:
            return []
        import numpy as np

        return [vector.tobytes() for vector in self._embedder.embed(texts).astype(np.float16)]


def text_digest(text: str) -> bytes:
    """Names an embedded text in the vector cache (BLAKE2b, 128 bits)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def _prepared(parsed: Parsed, vectors: Mapping[bytes, bytes], unknown: set[bytes]) -> PreparedNote:
    own = {digest for digest in parsed.hashes if digest is not None}
    return PreparedNote(
        file=parsed.file,
        rows=note_rows(parsed.note, parsed.chunks, parsed.hashes),
        vectors={digest: vectors[digest] for digest in own},
        embedded=len(own & unknown),
        reused=len(own - unknown),
    )


def _file_row(read: ReadResult, state: str, reason: str = "") -> FileRow:
    stat = read.stat
    return FileRow(
        stat.path,
        stat.size,
        stat.mtime_ns,
        stat.ctime_ns,
        stat.inode,
        read.sha256,
        state,
        reason,
        time.time_ns(),
    )
