"""Converts files to catalog rows: read, parse, split, and embed texts that no generation has embedded yet."""

from __future__ import annotations

import hashlib
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import numpy as np

from vault_indexer.arrays import Vectors
from vault_indexer.chunk import ChoosingChunker, CodeReader, chunks_of
from vault_indexer.chunk.llm_client import MODEL_UNREACHED, LlmSwitch
from vault_indexer.config import Settings
from vault_indexer.documents import (
    BOXES,
    EXTRACT_VERSION,
    NOT_READ,
    extract,
    part_name,
    part_spans,
    recognise,
)
from vault_indexer.errors import NoteError, ProviderError
from vault_indexer.index.plan import is_indexed
from vault_indexer.index.workers.budget import NoteMeter
from vault_indexer.model import (
    SPLIT_WITHOUT_MODEL,
    BlockId,
    Chunk,
    Diagnostic,
    Element,
    ElementKind,
    FileKind,
    FileRow,
    Heading,
    InspectedLink,
    InspectedNote,
    Link,
    LinkStyle,
    Note,
    SizeLimits,
    SkippedFile,
    document_kind_of,
    kind_of,
    language_of_path,
)
from vault_indexer.parse import StyledPaths, decode, detect_style, parse_any, resolve, sections
from vault_indexer.ports import Chunker, Embedder, EmbeddingModel, WordVectors
from vault_indexer.providers import word_vectors
from vault_indexer.store.catalog import CatalogReader, PreparedNote, note_rows, pack_words
from vault_indexer.system import batches, record
from vault_indexer.text.language import detect_note
from vault_indexer.vault.ignore import Decision, load_ignore_rules
from vault_indexer.vault.read import NoteVanished, ReadResult, read_note
from vault_indexer.vault.walk import Scan, ScannedFile, scan

_DEEPEST = 6
_NOT_BLANK = re.compile(r"[ \t]*\S")


def source_note(path: str, data: bytes) -> Note:
    """Returns the note of a source file. Its headings are its classes and functions, and it has no links. The
    name of the file is its title, and also the heading of module code that follows a definition. Raises
    NoteError if the file is not text in UTF-8."""
    text, diagnostics = decode(path, data)
    name = path.rpartition("/")[2]
    headings = tuple(_headings(text, name, language_of_path(path)))
    whole = Element(ElementKind.CODE, 0, len(text.rstrip()), language_of_path(path))
    return Note(
        path=path,
        text=text,
        title=name,
        headings=headings,
        sections=sections(text, 0, len(text), headings),
        elements=(whole,) if text.strip() else (),
        diagnostics=diagnostics,
    )


def _headings(text: str, module: str, language: str) -> Iterator[Heading]:
    """Yields a heading for each named definition, from the comments above it to the line of its name."""
    code = CodeReader().read(language, text, with_comments=True)
    breaks = [found.start() for found in re.finditer("\n", text)]

    def heading(level: int, name: str, start: int, named: int) -> Heading:
        end = text.find("\n", named)
        return Heading(level, name, start, len(text) if end < 0 else end, bisect_left(breaks, start) + 1)

    def module_heading(start: int, end: int) -> Iterator[Heading]:
        """Yields the heading of the code between two definitions. Code before the first one needs none."""
        # Behind the line on which the last definition ends.
        line = text.find("\n", start, end) + 1 if start else 0
        found = _NOT_BLANK.search(text, line, end) if line else None
        if found:
            begin = text.rfind("\n", 0, found.end()) + 1
            yield heading(1, module, begin, begin)

    end_of_last = 0
    for one in code.definitions if code else ():
        # From the beginning of the line, which includes its indentation.
        start = text.rfind("\n", 0, one.start) + 1
        if one.depth == 0:
            yield from module_heading(end_of_last, start)
            end_of_last = max(end_of_last, one.end)
        if one.name:
            yield heading(
                min(one.depth + 1, _DEEPEST), one.name, start, max(text.find(one.name, one.start), start)
            )
    yield from module_heading(end_of_last, len(text))


def document_note(path: str, text: str) -> Note:
    """Returns the note of the extracted text of a document. Its parts are blocks, such as `page=3`, to which
    links lead."""
    note = parse_any(path, text.encode("utf-8", "replace"))
    warnings = note.frontmatter.get(NOT_READ)
    unread = map(str, warnings) if isinstance(warnings, list) else ()
    own = (Diagnostic(DOCUMENT, warning, 1) for warning in unread)
    shown = {name: value for name, value in note.frontmatter.items() if name != BOXES}
    return replace(note, frontmatter=shown, blocks=tuple(_parts(note)), diagnostics=(*note.diagnostics, *own))


def _parts(note: Note) -> Iterator[BlockId]:
    name, line, last = part_name(note.path), 1, 0
    for number, (start, end) in enumerate(part_spans(note.text) if name else (), start=1):
        # The properties belong to no part.
        start = end - len(note.text[max(start, note.body_start) : end].lstrip("\n"))
        line, last = line + note.text.count("\n", last, start), start
        yield BlockId(f"{name}={number}", start, end, line)


def parse_file(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parses a note, canvas, document or source file, depending on its suffix. Raises NoteError."""
    if language_of_path(path):
        return source_note(path, data)
    if kind_of(path) is FileKind.DOCUMENT:
        return document_note(path, extract(path, data))
    return parse_any(path, data, style)


def note_from(path: str, data: bytes, style: LinkStyle = "obsidian") -> Note:
    """Parses a file and sets its language, which is declared in the note or detected from its body. It is ""
    if the detection is unsure, and for a source file. Raises NoteError."""
    return with_language(parse_file(path, data, style))


def with_language(note: Note) -> Note:
    if note.language or language_of_path(note.path):
        return note
    return replace(note, language=detect_note(note.text[note.body_start :]))


def reason_of(error: NoteError, path: str) -> str:
    """Returns why the note at this path cannot be indexed, without the path, which the caller shows."""
    return str(error).removeprefix(f"{path}: ")


def style_of_files(settings: Settings, found: Scan) -> LinkStyle:
    """The style of the links of a vault: the configured one, else the one detected from its files."""
    if settings.links.style != "auto":
        return settings.links.style
    # Three levels are enough for the folders by which a style is recognized.
    parts = [file.path.split("/", 3) for file in found.files]
    tops = {"/".join(part[:depth]) for part in parts for depth in (1, 2, 3)}
    return detect_style(tops.__contains__, sorted({part[0] for part in parts if len(part) > 1}))


def style_of_catalog(settings: Settings, catalog: CatalogReader) -> LinkStyle:
    if settings.links.style != "auto":
        return settings.links.style
    return detect_style(catalog.exists, catalog.top_folders())


_DIGEST_BYTES = 16

DOCUMENT = "document"
_FLAWS = frozenset({"frontmatter", "encoding", "canvas", DOCUMENT})
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


@record
class Skipped:
    """A file that is not indexed as a note. `file.reason` is the reason ("" if the file has vanished)."""

    file: FileRow


@record
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
        with self._meter.outside():
            return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        with self._meter.outside():
            return self._embedder.embed_query(text)


class Preparer:
    """Reads, parses, splits and embeds notes of one vault by one configuration. Existing vectors are reused
    from the first of `caches` that contains them. A `NoteWorker` owns it; one thread uses it."""

    def __init__(  # noqa: PLR0913 - what reading, splitting and embedding each need
        self,
        vault: Path,
        limits: SizeLimits,
        chunker_of: Callable[[Note], Chunker],
        embedder: Embedder,
        caches: Sequence[CatalogReader] = (),
        *,
        llm: LlmSwitch | None = None,
        style: LinkStyle = "obsidian",
        outside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`llm` is the language model of the chunkers. Work within `outside` is not charged to the note that
        is read."""
        self._vault = vault
        self._limits = limits
        self._chunker_of = chunker_of
        self._embedder = embedder
        self._caches = caches
        self._llm = llm
        self._style = style
        self._outside = outside
        for cache in caches:
            # Else the owner could not empty the catalog's log while this worker lives.
            cache.refresh_transaction()

    def parse(self, path: str, *, ask: bool = True, ocr_seconds: float = 0.0) -> Parsed | Skipped:
        """Reads and splits one note. A note that cannot be indexed is skipped with its reason. Without `ask`,
        only stored answers of the language model are used. With `ocr_seconds`, the text in images of a
        document is recognised for about that time."""
        read = self._read(path)
        if isinstance(read, Skipped):
            return read
        try:
            note = self._note(path, read, ocr_seconds)
            with nullcontext() if ask or self._llm is None else self._llm.off():
                chunks = chunks_of(self._chunker_of(note), note)
        except NoteError as error:
            return Skipped(_file_row(read, "skipped", reason_of(error, path)))
        hashes = tuple(
            text_digest(chunk.embedding_text(note.title)) if chunk.embed else None for chunk in chunks
        )
        return Parsed(_file_row(read, "note", _flaws(note, chunks)), note, chunks, hashes)

    def _note(self, path: str, read: ReadResult, ocr_seconds: float) -> Note:
        """Parses a file. The text of a document that an earlier index contains is not extracted again."""
        if kind_of(path) is not FileKind.DOCUMENT:
            return note_from(path, read.data, self._style)
        text = self._stored_text(path, read.sha256)
        if text is None:
            text = extract(path, read.data)
        if ocr_seconds:
            with self._outside():  # its time and memory are bounded by the pixels of an image
                text = recognise(path, read.data, text, ocr_seconds)
        return with_language(document_note(path, text))

    def _stored_text(self, path: str, digest: str) -> str | None:
        for cache in self._caches:
            text = cache.document_text(path, digest, EXTRACT_VERSION)
            cache.refresh_transaction()
            if text is not None:
                return text
        return None

    def quarantine(self, path: str, reason: str) -> Skipped:
        """Returns a row for a note without parsing it. It is tried again when the file changes."""
        read = self._read(path)
        return read if isinstance(read, Skipped) else Skipped(_file_row(read, "skipped", reason))

    def _read(self, path: str) -> ReadResult | Skipped:
        try:
            return read_note(self._vault, path, self._limits.of(path))
        except NoteVanished:
            return Skipped(self._unread(path, ""))
        except NoteError as error:
            return Skipped(self._unread(path, str(error)))

    def warm(self, *, model: bool = True) -> None:
        """Loads grammars, strategy, words and model by preparing invented notes. If chunking uses a language
        model, no note is split, because that would cost a call to it."""
        note_from("all.md", _EVERY_SYNTAX)
        note = note_from("warm.md", b"# Warm\n\n[[up]] `now`\n")
        if self._llm is None:
            self._chunker_of(note).chunk(note)
        word_vectors().numbers(note.text)
        if model:
            self._embedder.embed([note.text])

    def embed(self, batch: Sequence[Parsed], at_once: int | None = None) -> list[PreparedNote]:
        """Embeds the texts that no cache contains, in one call to the model. Raises ProviderError.

        With `at_once`, at most that number of texts is embedded and the rest is left for later. If the model
        fails, all of them are left for later.
        """
        texts = {
            digest: chunk.embedding_text(parsed.note.title)
            for parsed in batch
            for chunk, digest in zip(parsed.chunks, parsed.hashes, strict=True)
            if digest is not None
        }
        known = self._known_vectors(list(texts))
        # `texts` is keyed by digest, so a repeated text is embedded once.
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
        """Returns the float16 vectors of texts by their digests. Raises ProviderError."""
        if not texts:
            return {}
        made = self._embedder.embed(texts).astype(np.float16)
        return {text_digest(text): vector.tobytes() for text, vector in zip(texts, made, strict=True)}

    def _unread(self, path: str, reason: str) -> FileRow:
        """The row of a file that could not be read. It has no times to compare, so the next scan tries it
        again. Its inode shows that it exists and can be linked to."""
        try:
            inode = (self._vault / path).lstat().st_ino
        except (OSError, ValueError):
            inode = 0
        return FileRow(path, 0, 0, 0, inode, "", "skipped", reason, time.time_ns())

    def _known_vectors(self, digests: list[bytes]) -> Mapping[bytes, bytes]:
        known: dict[bytes, bytes] = {}
        for cache in self._caches:
            # The first cache is the newest generation, which most often has the vector.
            wanted = [digest for digest in digests if digest not in known]
            known.update(cache.vectors(self._embedder.model.key, wanted))
            cache.refresh_transaction()
        return known


def text_digest(text: str) -> bytes:
    """Names an embedded text in the vector cache (BLAKE2b, 128 bits)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def _flaws(note: Note, chunks: Sequence[Chunk]) -> str:
    """The parts of a note that were not read as intended, and why it is not split as configured; "" if there
    are none. It is split again when the model answers."""
    flaws = [
        one.detail if one.kind == DOCUMENT else f"line {one.line}: {one.detail}"
        for one in note.diagnostics
        if one.kind in _FLAWS
    ]
    if any(chunk.extra.get(MODEL_UNREACHED) for chunk in chunks):
        flaws.append(f"{SPLIT_WITHOUT_MODEL}, which has not answered yet; it is asked again")
    return "; ".join(flaws)


def _prepared_note(
    parsed: Parsed, known: Mapping[bytes, bytes], made: Mapping[bytes, bytes], words: WordVectors
) -> PreparedNote:
    own = {digest for digest in parsed.hashes if digest is not None}
    vectors = {**{d: known[d] for d in own & known.keys()}, **{d: made[d] for d in own & made.keys()}}
    numbers = [pack_words(words.numbers(chunk.embedding_text(parsed.note.title))) for chunk in parsed.chunks]
    return PreparedNote(
        file=parsed.file,
        rows=note_rows(parsed.note, parsed.chunks, parsed.hashes, numbers),
        vectors=vectors,
        embedded=len(own & made.keys()),
        reused=len(own & known.keys()),
    )


def _file_row(read: ReadResult, state: str, reason: str = "") -> FileRow:
    stat = read.stat
    times = stat.mtime_ns, stat.ctime_ns
    return FileRow(stat.path, stat.size, *times, stat.inode, read.sha256, state, reason, time.time_ns())


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
    paths = [
        file.path
        for file in found.files
        if is_indexed(file) and file.kind is not FileKind.DOCUMENT and file.stat.size <= _MAX_BYTES
    ]
    # Evenly and not at random: two builds of a vault must have the same statistics.
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
    searched first, and every file that is only a target of links; of a small vault all notes. Documents take
    longer to read and come later."""
    notes = [file for file in found.files if is_indexed(file) and file.kind is not FileKind.DOCUMENT]
    if sum(file.stat.size for file in notes) > _WORTH_PARTING * first_bytes:
        newest = sorted(notes, key=lambda file: file.stat.mtime_ns, reverse=True)
        ends = accumulate(file.stat.size for file in newest)
        notes = [file for file, end in zip(newest, ends, strict=True) if end <= first_bytes]
    chosen = {file.path for file in notes}
    return replace(found, files=tuple(f for f in found.files if f.path in chosen or not is_indexed(f)))


_DOCUMENT_BYTES = 20
"""A document has about this many bytes for each byte of text: 25 papers, books and slides had 9 to 60."""

_IMAGE_BYTES = 2_000


def text_size(files: Iterable[ScannedFile]) -> int:
    """Estimates the bytes of text in files to be indexed."""
    return sum(file.stat.size // _bytes_per_letter(file) for file in files if is_indexed(file))


_TEXT_PER_S = 25_000.0
"""Bytes of text of documents that are extracted, split and embedded in a second: 500 PDFs of 4,500 pages took
five minutes, on two cores that others used as well."""


def reading_seconds(documents: Iterable[ScannedFile]) -> float:
    """Estimates the time that documents take when they are read for the first time."""
    return text_size(documents) / _TEXT_PER_S


def _bytes_per_letter(file: ScannedFile) -> int:
    if file.kind is not FileKind.DOCUMENT:
        return 1
    kind = document_kind_of(file.path)
    return _IMAGE_BYTES if kind and kind.name == "image" else _DOCUMENT_BYTES


class Inspector:
    """Shows how the indexer processes the notes of one vault, without an index: parsed, split by `chunker`,
    and with their links resolved. Raises VaultError if the vault cannot be read."""

    def __init__(self, vault: Path, settings: Settings, chunker: Chunker) -> None:
        self._vault = vault
        self._settings = settings
        self._limits = settings.files.limits
        self._rules = load_ignore_rules(vault, settings.files)
        self._chunker = chunker

    def all_notes(self) -> list[str]:
        """Returns the sorted paths of all notes that an index would contain."""
        return [file.path for file in self._scan.files if file.decision is Decision.INDEX]

    def inspect(self, paths: Iterable[str]) -> Iterator[InspectedNote | SkippedFile]:
        """Yields each note, given by path or name, or the reason why the file cannot be indexed."""
        for named in paths:
            path = self._path_of(named)
            try:
                note = note_from(path, self._read(path), self._style)
                yield self._inspect(note)
            except NoteVanished:
                yield SkippedFile(path, "no such note in the vault")
            except NoteError as error:
                yield SkippedFile(path, reason_of(error, path))

    def _inspect(self, note: Note) -> InspectedNote:
        chunker = self._chunker
        own = chunker.diagnostics(note) if isinstance(chunker, ChoosingChunker) else ()
        chunks = chunks_of(chunker, note)
        return InspectedNote(
            path=note.path,
            title=note.title,
            language=note.language,
            frontmatter=note.frontmatter,
            aliases=note.aliases,
            tags=note.tags,
            headings=note.headings,
            links=tuple(self._resolved(link, note.path) for link in note.links),
            blocks=note.blocks,
            chunks=chunks,
            diagnostics=(*note.diagnostics, *own, *_fallbacks(chunks)),
            fields=note.fields,
        )

    def _resolved(self, link: Link, source: str) -> InspectedLink:
        target = self._paths.find(link.target, source)[0].path
        return InspectedLink(link.kind, link.target, link.subpath, link.display, link.line, target)

    def _read(self, path: str) -> bytes:
        return read_note(self._vault, path, self._limits.of(path)).data

    def _path_of(self, named: str) -> str:
        path = named.removeprefix("./")
        return path if path in self._paths else resolve(path, "", self._paths).path or path

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._vault, self._rules, limits=self._limits)

    @cached_property
    def _style(self) -> LinkStyle:
        return style_of_files(self._settings, self._scan)

    @cached_property
    def _paths(self) -> StyledPaths:
        """The paths. If notes have addresses other than their paths, every note is read for them."""
        paths = StyledPaths(self._style, (file.path for file in self._scan.files))
        for path in self.all_notes() if paths.reads_pages else ():
            with suppress(NoteError):
                note = parse_file(path, self._read(path), self._style)
                paths.put_page(note, (block.id for block in note.blocks))
        return paths


def _fallbacks(chunks: Iterable[Chunk]) -> Iterator[Diagnostic]:
    """Yields the reasons why a strategy had to fall back to another method, each once, with the remedy."""
    first: dict[str, int] = {}
    for chunk in chunks:
        if isinstance(reason := chunk.extra.get("reason"), str):
            first.setdefault(reason, chunk.start_line)
    return (Diagnostic("chunking", reason, line) for reason, line in first.items())
