"""The jobs of a worker process: preparing notes, embedding, and updating the keyword index."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk import PROPERTIES
from vault_indexer.errors import IndexUnusableError, VaultIndexerError
from vault_indexer.index.reading.prepare import Parsed, Preparer, Skipped
from vault_indexer.index.workers.budget import Mark, NoteMeter
from vault_indexer.index.workers.job import Failed, run_job
from vault_indexer.model import Chunk, JsonValue, Note, NoteRow, chunk_key, language_of_path, note_id_of
from vault_indexer.parse import property_lines, render_markdown, unescape_prose
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, Changes, PreparedNote
from vault_indexer.store.keywords import KeywordDocument, KeywordIndex, SegmentBuilder
from vault_indexer.system import batches, own_usage, trim_heap
from vault_indexer.text.tokens import analyze

if TYPE_CHECKING:
    from vault_indexer.store.keywords import Segment


# Conversion of chunks to documents of the keyword index, the same for a build, an edit and a repair.


SHARED_TERMS = 250
"""The number of terms of a note's title, aliases, tags or path that are indexed with each of its chunks. The
other terms are indexed only with the first chunk. Otherwise the product of words and chunks of one note would
be unbounded."""

_BATCH = 512
_DIVIDED = re.compile(
    r"\w(?:[*~=`]+\w|[*~=`]*(?:!?\[|\\|</?[A-Za-z!])|&[#\w])|(?:[\])]|[A-Za-z\"'/]>|-->|%%)[*~=`]*\w"
)
"""Matches markup that may divide a word."""


@dataclass(frozen=True, slots=True)
class NoteWords:
    """The fields that all chunks of a note share in the keyword index."""

    path: str
    title: str
    aliases: Sequence[str]
    tags: Sequence[str]
    language: str
    properties: Mapping[str, JsonValue] = field(default_factory=dict)


def note_words(note: Note | NoteRow) -> NoteWords:
    """Return the shared fields of a note, parsed or from the catalog."""
    return NoteWords(note.path, note.title, note.aliases, note.tags, note.language, note.frontmatter)


def keyword_documents(words: NoteWords, chunks: Iterable[tuple[int, Chunk]]) -> Iterator[KeywordDocument]:
    """Yield one document per chunk, given with its key; none for a parent that is only context. The note's
    properties belong to its first chunk."""
    title = analyze(words.title, words.language)
    aliases = analyze("\n".join(words.aliases), words.language)
    tags = analyze("\n".join(words.tags), words.language)
    path = analyze(words.path, words.language)
    is_code = bool(language_of_path(words.path))
    for key, chunk in chunks:
        if chunk.is_context:
            continue
        shared = None if _is_first(chunk) else SHARED_TERMS
        if is_code:
            content = analyze(chunk.content, words.language)
        else:
            content = analyze(unescape_prose(chunk.content), words.language)
            content += _divided_words(chunk.content, words.language, content)
        yield KeywordDocument(
            key=key,
            title=title[:shared],
            aliases=aliases[:shared],
            headers=analyze(chunk.header_path, words.language),
            tags=tags[:shared],
            path=path[:shared],
            content=content,
            properties=_properties(words, chunk, content),
        )


def _properties(words: NoteWords, chunk: Chunk, content: Sequence[str]) -> list[str]:
    """Return the terms of the property names and values for the first chunk. If the chunk contains the
    properties as text, only terms that differ from that text are returned (an escaped letter, a repeated
    value)."""
    if not _is_first(chunk) or not words.properties:
        return []
    terms = analyze("\n".join(property_lines(words.properties)), words.language)
    if not chunk.extra.get(PROPERTIES):
        return terms
    written = frozenset(content)
    return [term for term in terms if term not in written]


def _divided_words(markdown: str, language: str, written: Sequence[str]) -> list[str]:
    """Return the terms of words that markup divides, as in `[[cat]]s`."""
    if not _DIVIDED.search(markdown):
        return []
    known = frozenset(written)
    return [term for term in analyze(render_markdown(markdown).text, language) if term not in known]


def _is_first(chunk: Chunk) -> bool:
    """Return whether the chunk gets all words of its note: the first chunk does, and so does the first child
    of that chunk, which may be context."""
    return chunk.chunk_index == 0 or (chunk.chunk_index == 1 and chunk.extra.get("child_index") == 0)


def documents_of(catalog: CatalogReader, keys: Iterable[int]) -> Iterator[KeywordDocument]:
    """Yield the documents of these chunks from the catalog alone. Unknown keys are skipped."""
    wanted = set(keys)
    notes = catalog.notes({note_id_of(key) for key in wanted})
    for note_id in sorted(notes):
        own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id) if row.key in wanted]
        yield from keyword_documents(note_words(notes[note_id]), own)


def all_documents(catalog: CatalogReader) -> Iterator[KeywordDocument]:
    """Yield the documents of all chunks from the catalog alone, one note at a time."""
    for note_ids in batches(catalog.note_ids(), _BATCH):
        notes = catalog.notes(note_ids)
        for note_id in sorted(notes):
            own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id)]
            yield from keyword_documents(note_words(notes[note_id]), own)


@dataclass(frozen=True, slots=True)
class PrepareJob:
    """A job that prepares notes. With `note_ids` (one per note), their keyword documents are written to the
    worker's own segment in `segments`, under the keys that the catalog will assign. With `quarantine`, the
    notes are not parsed but reported with that reason. At most `at_once` texts without a known vector are
    embedded (None: all). Without `ask`, only stored answers of the language model that splits notes are used.
    """

    paths: tuple[str, ...]
    note_ids: tuple[int, ...] = ()
    segments: Path | None = None
    quarantine: str = ""
    at_once: int | None = None
    ask: bool = True

    def run(self, worker: NoteWorker) -> Prepared:
        return worker.prepare(self)


@dataclass(frozen=True, slots=True)
class WarmJob:
    """A job that loads everything the first note needs, including the model if `model` is true."""

    model: bool = True

    def run(self, worker: NoteWorker) -> Prepared:
        worker.warm(model=self.model)
        return []


@dataclass(frozen=True, slots=True)
class EmbedJob:
    """A job that computes the vectors of stored chunks without one."""

    generation: Generation
    keys: tuple[int, ...]

    def run(self, worker: NoteWorker) -> Embedded:
        return worker.embed(self)


@dataclass(frozen=True, slots=True)
class FinishJob:
    """A job that writes the worker's segments to disk."""

    def run(self, worker: NoteWorker) -> Finished:
        return worker.finish()


@dataclass(frozen=True, slots=True)
class KeywordsJob:
    """A job that brings the keyword index of a generation to the state of its catalog."""

    generation: Generation

    def run(self, worker: NoteWorker) -> KeywordsApplied:
        return KeywordsApplied(worker.catch_up(self.generation)[0])


@dataclass(frozen=True, slots=True)
class KeywordCompactionJob:
    """A job that brings the keyword index up to date and rewrites it without deleted documents."""

    generation: Generation

    def run(self, worker: NoteWorker) -> KeywordsApplied:
        seq, index = worker.catch_up(self.generation)
        index.compact()
        return KeywordsApplied(seq)


@dataclass(frozen=True, slots=True)
class KeywordsApplied:
    """The result of a job that updated the keyword index: the seq of the catalog that it now reflects."""

    seq: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The segments that a worker has written."""

    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors (float16 bytes) by the digest of their text, and the seconds that the model took."""

    vectors: Mapping[bytes, bytes]
    seconds: float


Job = PrepareJob | WarmJob | EmbedJob | FinishJob | KeywordsJob | KeywordCompactionJob
Prepared = list[PreparedNote | Skipped]
Outcome = Prepared | Embedded | Finished | KeywordsApplied | Failed


class NoteWorker:
    """Handles jobs one after the other in the thread of a worker process, and owns the segments that it
    writes. `meter` measures the reading of each note."""

    def __init__(self, preparer: Callable[[], Preparer], meter: NoteMeter | None = None) -> None:
        self._make = preparer
        self._meter = meter or NoteMeter(own_usage)
        self._preparer: Preparer | None = None
        self._builder: SegmentBuilder | None = None
        self._keywords: tuple[Generation, KeywordIndex] | None = None

    def handle(self, job: Job) -> Outcome:
        """Return the result of a job: prepared notes, vectors, finished segments, or the keywords' seq."""
        return run_job(job, self)

    def report_reading(self, report: Callable[[Mark], None]) -> None:
        self._meter.report = report

    def warm(self, *, model: bool) -> None:
        """Load the data that the first note needs."""
        self._ready().warm(model=model)
        _warm_keywords()

    def _ready(self) -> Preparer:
        """Return the preparer. The first call loads its data, which is not charged to the first note."""
        if self._preparer is None:
            self._preparer = self._make()
            with suppress(VaultIndexerError):  # the same error recurs for each note and is reported there
                self._preparer.warm(model=False)
        return self._preparer

    def catch_up(self, generation: Generation) -> tuple[int, KeywordIndex]:
        """Bring the keyword index up to date with its catalog. Returns the seq, and the index, which stays
        open.

        The process that opened the generation has checked its files in full. A worker that starts later,
        while a user waits for an edit, does not read 600 MB of a large vault again.
        """
        if self._keywords is None or self._keywords[0] != generation:
            self._keywords = (generation, KeywordIndex.open(generation.keywords, check=False))
        index = self._keywords[1]
        try:
            index.refresh()  # the owner may have rebuilt it
            segments = index.segment_count
            seq = catch_up(index, generation)
        except (VaultIndexerError, OSError):
            self._keywords = None
            raise
        if index.segment_count < segments:  # a merge took memory
            trim_heap()
        return seq, index

    def prepare(self, job: PrepareJob) -> Prepared:
        preparer = self._ready()
        if job.quarantine:
            return [preparer.quarantine(path, job.quarantine) for path in job.paths]
        if job.segments:
            self._builder = self._builder or SegmentBuilder(job.segments)
        parsed: list[Parsed] = []
        skipped: list[Skipped] = []
        for path, note_id in zip(job.paths, job.note_ids or (0,) * len(job.paths), strict=True):
            with self._meter.reading(path):
                result = preparer.parse(path, ask=job.ask)
                if isinstance(result, Parsed) and job.segments and self._builder is not None:
                    self._index(result, note_id, self._builder)
            if isinstance(result, Skipped):
                skipped.append(result)
            else:
                parsed.append(result)
        return [*skipped, *preparer.embed(parsed, job.at_once)]

    def embed(self, job: EmbedJob) -> Embedded:
        """Embed the texts of stored chunks. They are read from the catalog, without the files of the
        vault."""
        with CatalogReader(job.generation.catalog) as catalog:
            texts = [row.chunk.embedding_text for row in catalog.chunks(job.keys).values()]
        started = time.perf_counter()
        vectors = self._ready().vectors_of(texts)
        return Embedded(vectors, time.perf_counter() - started)

    def _index(self, parsed: Parsed, note_id: int, builder: SegmentBuilder) -> None:
        note = parsed.note
        words = note_words(note)
        keyed = ((chunk_key(note_id, ordinal), chunk) for ordinal, chunk in enumerate(parsed.chunks))
        for document in keyword_documents(words, keyed):
            builder.add(document)

    def finish(self) -> Finished:
        """Return the segments that the worker has written since the last call."""
        builder, self._builder = self._builder, None
        return Finished(tuple(builder.finish()) if builder else ())


def _warm_keywords() -> None:
    """Load the code that writes and commits keywords, with a temporary index."""
    chunk = Chunk("warm", 0, "", 0, 10, 1, 1, "warming up", "none")
    words = NoteWords("Warm.md", "Warm", (), (), "en")
    with TemporaryDirectory(prefix="vault-indexer-") as folder:
        index = KeywordIndex.create(Path(folder))
        index.apply(keyword_documents(words, [(1, chunk)]), [], 1)
        index.apply([], [1], 2)


def catch_up_keywords(generation: Generation) -> int:
    """Open the keyword index of a generation with all checks, and `catch_up`."""
    return catch_up(KeywordIndex.open(generation.keywords), generation)


def catch_up(index: KeywordIndex, generation: Generation) -> int:
    """Bring the chunks of the keyword index in line with the catalog. Returns the seq.

    Chunk keys are never reused, so comparing the sets of keys is exact, whatever happened in between.
    Raises IndexUnusableError if the keyword index is damaged.
    """
    index.refresh()  # another worker may have written since
    with CatalogReader(generation.catalog) as catalog:
        if index.applied_seq == catalog.seq:
            return catalog.seq
        if index.applied_seq > catalog.seq:  # the ids in it may be assigned again
            raise IndexUnusableError("it contains changes that the index has lost")
        changes = catalog.changes(index.applied_seq)
        if changes is None:
            changes = _compare_keys(index, catalog)
        elif not changes.touches_text:
            return catalog.seq  # the words have not changed, so nothing is written
        index.apply(documents_of(catalog, changes.added), sorted(changes.removed), catalog.seq)
        return catalog.seq


def _compare_keys(index: KeywordIndex, catalog: CatalogReader) -> Changes:
    held, wanted = index.snapshot().keys, catalog.chunk_key_array()
    return Changes(
        added=set(np.setdiff1d(wanted, held, assume_unique=True).tolist()),
        removed=set(np.setdiff1d(held, wanted, assume_unique=True).tolist()),
    )


def rebuild_keywords(generation: Generation) -> None:
    """Rebuild the keyword index from the catalog alone."""
    with CatalogReader(generation.catalog) as catalog:
        shutil.rmtree(generation.keywords, ignore_errors=True)
        index = KeywordIndex.create(generation.keywords)
        builder = SegmentBuilder(generation.keywords)
        for document in all_documents(catalog):
            builder.add(document)
        index.adopt(builder.finish(), catalog.seq)
