"""Converts files to catalog rows: read, parse, split, and embed texts that no generation has embedded yet."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk import chunks_of
from vault_indexer.chunk.llm_client import MODEL_UNREACHED, LlmSwitch
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.index.plan import is_indexed
from vault_indexer.index.reading.note import note_from, reason_of
from vault_indexer.index.workers.budget import NoteMeter
from vault_indexer.model import SPLIT_WITHOUT_MODEL, Chunk, FileRow, LinkStyle, Note
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel, WordVectors
from vault_indexer.providers import word_vectors
from vault_indexer.store.catalog import CatalogReader, PreparedNote, note_rows, pack_words
from vault_indexer.system import batches
from vault_indexer.vault.read import NoteVanished, ReadResult, read_note
from vault_indexer.vault.walk import Scan

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


_DIGEST_BYTES = 16

_FLAWS = frozenset({"frontmatter", "encoding", "canvas"})
"""The kinds of diagnostics that `check` and `status` report: the note is not read as its author meant it."""

_EVERY_SYNTAX = b"""---
tags: [warm]
---
# Warm up

A [[link]], another [one](one.md), `code`, $x$ and **this** #tag.

- [ ] task ^block

| a | b |
| - | - |
| 1 | 2 |

```python
x = 1
```
"""
"""Each loads something that the parser imports when it first meets it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed as a note. `file.reason` is the reason ("" if the file has vanished)."""

    file: FileRow


@dataclass(frozen=True, slots=True)
class Parsed:
    """A note that was read, parsed and split, before embedding."""

    file: FileRow
    note: Note
    chunks: tuple[Chunk, ...]
    hashes: tuple[bytes | None, ...]


class UnmeteredEmbedder:
    """ports.Embedder for a strategy that splits by meaning: the note is not charged for the model's time."""

    def __init__(self, embedder: Embedder, meter: NoteMeter) -> None:
        self._embedder = embedder
        self._meter = meter

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder. Raises ProviderError."""
        with self._meter.outside():
            return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """As the embedder. Raises ProviderError."""
        with self._meter.outside():
            return self._embedder.embed_query(text)


class Preparer:
    """Reads, parses, splits and embeds notes of one vault by one configuration. Existing vectors are reused
    from the first of `caches` that contains them. A `NoteWorker` owns it; one thread uses it."""

    def __init__(  # noqa: PLR0913 - what reading, splitting and embedding each need
        self,
        vault: Path,
        max_file_bytes: int,
        chunker_of: Callable[[Note], Chunker],
        embedder: Embedder,
        caches: Sequence[CatalogReader] = (),
        *,
        llm: LlmSwitch | None = None,
        style: LinkStyle = "obsidian",
    ) -> None:
        """`llm` is the language model of the chunkers."""
        self._vault = vault
        self._max_file_bytes = max_file_bytes
        self._chunker_of = chunker_of
        self._embedder = embedder
        self._caches = caches
        self._llm = llm
        self._style = style
        for cache in caches:
            # Else the owner could not empty the catalog's log while this worker lives.
            cache.refresh_transaction()

    def parse(self, path: str, *, ask: bool = True) -> Parsed | Skipped:
        """Read and split one note. A note that cannot be indexed is skipped with its reason. Without `ask`,
        only stored answers of the language model are used."""
        try:
            read = read_note(self._vault, path, self._max_file_bytes)
        except NoteVanished:
            return Skipped(self._unread(path, ""))
        except NoteError as error:
            return Skipped(self._unread(path, str(error)))
        try:
            note = note_from(path, read.data, self._style)
            with nullcontext() if ask or self._llm is None else self._llm.off():
                chunks = chunks_of(self._chunker_of(note), note)
        except NoteError as error:
            return Skipped(_file_row(read, "skipped", reason_of(error, path)))
        hashes = tuple(text_digest(chunk.embedding_text) if chunk.embed else None for chunk in chunks)
        return Parsed(_file_row(read, "note", _flaws(note, chunks)), note, chunks, hashes)

    def quarantine(self, path: str, reason: str) -> Skipped:
        """Return a row for a note without parsing it. It is tried again when the file changes."""
        try:
            return Skipped(_file_row(read_note(self._vault, path, self._max_file_bytes), "skipped", reason))
        except NoteVanished:
            return Skipped(self._unread(path, ""))
        except NoteError as error:
            return Skipped(self._unread(path, str(error)))

    def warm(self, *, model: bool = True) -> None:
        """Load grammars, strategy, words and model by preparing invented notes. If chunking uses a language
        model, no note is split, because that would cost a call to it."""
        note_from("all.md", _EVERY_SYNTAX)
        note = note_from("warm.md", b"# Warm\n\n[[up]] `now`\n")
        if self._llm is None:
            self._chunker_of(note).chunk(note)
        word_vectors().numbers(note.text)
        if model:
            self._embedder.embed([note.text])

    def embed(self, batch: Sequence[Parsed], at_once: int | None = None) -> list[PreparedNote]:
        """Embed the texts that no cache contains, in one call to the model. Raises ProviderError.

        With `at_once`, at most that number of texts is embedded and the rest is left for later. If the model
        fails, all of them are.
        """
        texts = {
            digest: chunk.embedding_text
            for parsed in batch
            for chunk, digest in zip(parsed.chunks, parsed.hashes, strict=True)
            if digest is not None
        }
        known = self._known_vectors(list(texts))
        missing = [text for digest, text in texts.items() if digest not in known][:at_once]
        try:
            made = self.vectors_of(missing)
        except ProviderError:
            if at_once is None:
                raise
            made = {}
        words = word_vectors()
        return [_prepared_note(parsed, known, made, words) for parsed in batch]

    def vectors_of(self, texts: Sequence[str]) -> dict[bytes, bytes]:
        """Return the float16 vectors of texts by their digests. Raises ProviderError."""
        if not texts:
            return {}

        made = self._embedder.embed(texts).astype(np.float16)
        return {text_digest(text): vector.tobytes() for text, vector in zip(texts, made, strict=True)}

    def _unread(self, path: str, reason: str) -> FileRow:
        """A file that could not be read has no times to compare with, so the next scan tries it again.
        Its inode says that it is there, and can be linked to."""
        try:
            inode = (self._vault / path).lstat().st_ino
        except (OSError, ValueError):
            inode = 0
        return FileRow(path, 0, 0, 0, inode, "", "skipped", reason, time.time_ns())

    def _known_vectors(self, digests: list[bytes]) -> Mapping[bytes, bytes]:
        known: dict[bytes, bytes] = {}
        for cache in self._caches:
            wanted = [digest for digest in digests if digest not in known]
            known.update(cache.vectors(self._embedder.model.key, wanted))
            cache.refresh_transaction()
        return known


def text_digest(text: str) -> bytes:
    """Names an embedded text in the vector cache (BLAKE2b, 128 bits)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def _flaws(note: Note, chunks: Sequence[Chunk]) -> str:
    """What of a note could not be read as it was meant, and why it is not split as it should be; "" if all is
    well. It is split again when the model answers."""
    flaws = [f"line {one.line}: {one.detail}" for one in note.diagnostics if one.kind in _FLAWS]
    if any(chunk.extra.get(MODEL_UNREACHED) for chunk in chunks):
        flaws.append(f"{SPLIT_WITHOUT_MODEL}, which has not answered yet; it is asked again")
    return "; ".join(flaws)


def _prepared_note(
    parsed: Parsed, known: Mapping[bytes, bytes], made: Mapping[bytes, bytes], words: WordVectors
) -> PreparedNote:
    own = {digest for digest in parsed.hashes if digest is not None}
    vectors = {**{d: known[d] for d in own & known.keys()}, **{d: made[d] for d in own & made.keys()}}
    return PreparedNote(
        file=parsed.file,
        rows=note_rows(parsed.note, parsed.chunks, parsed.hashes, _word_numbers(parsed.chunks, words)),
        vectors=vectors,
        embedded=len(own & made.keys()),
        reused=len(own & known.keys()),
    )


def _word_numbers(chunks: Sequence[Chunk], words: WordVectors) -> list[bytes]:
    return [pack_words(words.numbers(chunk.embedding_text)) for chunk in chunks]


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


# Parts of the vault that stand for it: for statistics that need no parsing, and for the first answers.


MAX_NOTES = 2_000
FIRST_BYTES = 2_000_000
"""About two seconds' work on two cores."""

_DRIFT = 1.25
"""Statistics of the vault are made again when it has grown or shrunk by this factor."""

_WORTH_PARTING = 4
"""A vault of more than this many first parts is built in parts."""

_PIECE_CHARS = 1_000
_MAX_BYTES = 256 * 1024


def sample_texts(vault: Path, found: Scan, max_notes: int = MAX_NOTES) -> Iterator[str]:
    """Pieces of about a chunk's size from notes spread evenly over the vault, the same ones every time."""
    paths = [file.path for file in found.files if is_indexed(file) and file.stat.size <= _MAX_BYTES]
    step = max(1, len(paths) // max_notes)
    for path in paths[::step][:max_notes]:
        try:
            text = read_note(vault, path, _MAX_BYTES).data.decode("utf-8", "replace")
        except NoteError:
            continue
        yield from batches(text, _PIECE_CHARS)


def has_drifted(notes_before: int, notes_now: int) -> bool:
    """Whether the vault has changed so much in size that statistics of it no longer fit."""
    return not notes_before / _DRIFT <= notes_now <= notes_before * _DRIFT


def first_part(found: Scan, first_bytes: int = FIRST_BYTES) -> Scan:
    """Of a large vault at most `first_bytes` of the notes that changed last, which are those that are
    searched first, and every file that is only a target of links; a small vault whole."""
    notes = [file for file in found.files if is_indexed(file)]
    if sum(file.stat.size for file in notes) <= _WORTH_PARTING * first_bytes:
        return found
    newest = sorted(notes, key=lambda file: file.stat.mtime_ns, reverse=True)
    ends = accumulate(file.stat.size for file in newest)
    chosen = {file.path for file, end in zip(newest, ends, strict=True) if end <= first_bytes}
    return replace(found, files=tuple(f for f in found.files if f.path in chosen or not is_indexed(f)))
