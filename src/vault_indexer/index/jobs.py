"""The jobs of a worker process: preparing notes, embedding, and updating the keyword index."""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk import PROPERTIES
from vault_indexer.errors import (
    DiskFullError,
    IndexUnusableError,
    ProcessError,
    ProviderError,
    VaultIndexerError,
)
from vault_indexer.index.reading import Parsed, Preparer, Skipped
from vault_indexer.index.workers.budget import Mark, NoteMeter
from vault_indexer.index.workers.pool import Died, Failed, WorkerPool, run_job
from vault_indexer.model import QUARANTINED, Chunk, Note, NoteRow, chunk_key, language_of_path, note_id_of
from vault_indexer.parse import property_lines, render_markdown, unescape_prose
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, Changes, PreparedNote
from vault_indexer.store.keywords import KeywordDocument, KeywordIndex, SegmentBuilder
from vault_indexer.system import batches, own_usage, record, trim_heap
from vault_indexer.text.tokens import analyze

if TYPE_CHECKING:
    from vault_indexer.store.keywords import Segment

SHARED_TERMS = 250
"""The number of terms of a note's title, aliases, tags or path that are indexed with each of its chunks. The
other terms are indexed only with the first chunk. Otherwise the product of words and chunks of one note would
be unbounded."""

_BATCH = 512
_DIVIDED = re.compile(
    r"\w(?:[*~=`]+\w|[*~=`]*(?:!?\[|\\|</?[A-Za-z!])|&[#\w])|(?:[\])]|[A-Za-z\"'/]>|-->|%%)[*~=`]*\w"
)
"""Matches markup that may divide a word."""


def keyword_documents(note: Note | NoteRow, chunks: Iterable[tuple[int, Chunk]]) -> Iterator[KeywordDocument]:
    """Yields one document of the keyword index per chunk, given with its key; none for a parent that is only
    context. The note's properties belong to its first chunk."""
    title = analyze(note.title, note.language)
    aliases = analyze("\n".join(note.aliases), note.language)
    tags = analyze("\n".join(note.tags), note.language)
    path = analyze(note.path, note.language)
    is_code = bool(language_of_path(note.path))
    for key, chunk in chunks:
        if chunk.is_context:
            continue
        shared = None if _is_first(chunk) else SHARED_TERMS
        if is_code:
            content = analyze(chunk.content, note.language)
        else:
            content = analyze(unescape_prose(chunk.content), note.language)
            content += _divided_words(chunk.content, note.language, content)
        yield KeywordDocument(
            key=key,
            title=title[:shared],
            aliases=aliases[:shared],
            headers=analyze(chunk.header_path, note.language),
            tags=tags[:shared],
            path=path[:shared],
            content=content,
            properties=_properties(note, chunk, content),
        )


def _properties(note: Note | NoteRow, chunk: Chunk, content: Sequence[str]) -> list[str]:
    """Returns the terms of the property names and values for the first chunk. If the chunk contains the
    properties as text, only terms that differ from that text are returned (an escaped letter, a repeated
    value)."""
    properties = note.frontmatter if _is_first(chunk) else {}
    if not properties:
        return []
    terms = analyze("\n".join(property_lines(properties)), note.language)
    if not chunk.extra.get(PROPERTIES):
        return terms
    written = frozenset(content)
    return [term for term in terms if term not in written]


def _divided_words(markdown: str, language: str, written: Sequence[str]) -> list[str]:
    """Returns the terms of words that markup divides, as in `[[cat]]s`."""
    if not _DIVIDED.search(markdown):
        return []
    known = frozenset(written)
    return [term for term in analyze(render_markdown(markdown).text, language) if term not in known]


def _is_first(chunk: Chunk) -> bool:
    """Returns whether the chunk gets all words of its note: the first chunk does, and so does the first child
    of that chunk, which may be context."""
    return chunk.chunk_index == 0 or (chunk.chunk_index == 1 and chunk.extra.get("child_index") == 0)


def documents_of(catalog: CatalogReader, keys: Iterable[int]) -> Iterator[KeywordDocument]:
    """Yields the documents of these chunks from the catalog alone. Unknown keys are skipped."""
    wanted = set(keys)
    notes = catalog.notes({note_id_of(key) for key in wanted})
    for note_id in sorted(notes):
        own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id) if row.key in wanted]
        yield from keyword_documents(notes[note_id], own)


def all_documents(catalog: CatalogReader) -> Iterator[KeywordDocument]:
    """Yields the documents of all chunks from the catalog alone, one note at a time."""
    for note_ids in batches(catalog.note_ids(), _BATCH):
        notes = catalog.notes(note_ids)
        for note_id in sorted(notes):
            own = [(row.key, row.chunk) for row in catalog.chunks_of(note_id)]
            yield from keyword_documents(notes[note_id], own)


@record
class PrepareJob:
    """A job that prepares notes. With `note_ids` (one per note), their keyword documents are written to the
    worker's own segment in `segments`, under the keys that the catalog will assign. With `quarantine`, the
    notes are not parsed but reported with that reason. At most `at_once` texts without a known vector are
    embedded (None: all). Without `ask`, only stored answers of the language model that splits notes are used.
    The text in images of documents is recognised for about `ocr_seconds`."""

    paths: tuple[str, ...]
    note_ids: tuple[int, ...] = ()
    segments: Path | None = None
    quarantine: str = ""
    at_once: int | None = None
    ask: bool = True
    ocr_seconds: float = 0.0

    def run(self, worker: NoteWorker) -> Prepared:
        preparer = worker.preparer()
        if self.quarantine:
            return [preparer.quarantine(path, self.quarantine) for path in self.paths]
        parsed: list[Parsed] = []
        skipped: list[Skipped] = []
        for path, note_id in zip(self.paths, self.note_ids or (0,) * len(self.paths), strict=True):
            # Embedding is outside: it depends on the batch and the model, not on this note.
            with worker.meter.reading(path):
                result = preparer.parse(path, ask=self.ask, ocr_seconds=self.ocr_seconds)
                if self.segments and isinstance(result, Parsed):
                    worker.index(result, note_id, self.segments)
            if isinstance(result, Skipped):
                skipped.append(result)
            else:
                parsed.append(result)
        # One call to the model for all notes of the job.
        return [*skipped, *preparer.embed(parsed, self.at_once)]


@record
class WarmJob:
    """A job that loads everything the first note needs, including the model if `model` is true."""

    model: bool = True

    def run(self, worker: NoteWorker) -> Prepared:
        worker.preparer().warm(model=self.model)
        _warm_keywords()
        return []


@record
class EmbedJob:
    """A job that computes the vectors of stored chunks without one. Their texts are read from the catalog,
    without the files of the vault."""

    generation: Generation
    keys: tuple[int, ...]

    def run(self, worker: NoteWorker) -> Embedded:
        with CatalogReader(self.generation.catalog) as catalog:
            rows = catalog.chunks(self.keys).values()
            notes = catalog.notes({row.note_id for row in rows})
            texts = [row.chunk.embedding_text(notes[row.note_id].title) for row in rows]
        started = time.perf_counter()
        vectors = worker.preparer().vectors_of(texts)
        return Embedded(vectors, time.perf_counter() - started)


@record
class FinishJob:
    """A job that writes the worker's segments to disk."""

    def run(self, worker: NoteWorker) -> Finished:
        return worker.finish()


@record
class KeywordsJob:
    """A job that brings the keyword index of a generation to the state of its catalog. With `compact`, it
    then rewrites the index without deleted documents."""

    generation: Generation
    compact: bool = False

    def run(self, worker: NoteWorker) -> KeywordsApplied:
        with worker.keywords(self.generation) as index:
            seq = catch_up_keywords(self.generation, index)
            if self.compact:
                index.compact()
            return KeywordsApplied(seq)


@record
class KeywordsApplied:
    """The result of a job that updated the keyword index: the seq of the catalog that it now reflects."""

    seq: int


@record
class Finished:
    segments: tuple[Segment, ...]


@record
class Embedded:
    """Vectors (float16 bytes) by the digest of their text, and the seconds that the model took."""

    vectors: Mapping[bytes, bytes]
    seconds: float


Job = PrepareJob | WarmJob | EmbedJob | FinishJob | KeywordsJob
Prepared = list[PreparedNote | Skipped]
Outcome = Prepared | Embedded | Finished | KeywordsApplied | Failed
Pool = WorkerPool[Job, Outcome]


class NoteWorker:
    """Handles jobs one after the other in the thread of a worker process, and owns the segments that it
    writes. `meter` measures the reading of each note."""

    def __init__(self, preparer: Callable[[], Preparer], meter: NoteMeter | None = None) -> None:
        self.meter = meter or NoteMeter(own_usage)
        self._make = preparer
        self._preparer: Preparer | None = None
        self._builder: SegmentBuilder | None = None
        self._keywords: tuple[Generation, KeywordIndex] | None = None

    def handle(self, job: Job) -> Outcome:
        return run_job(job, self)

    def report_reading(self, report: Callable[[Mark], None]) -> None:
        self.meter.report = report

    def preparer(self) -> Preparer:
        """Returns the preparer. The first call loads its data, which is not charged to the first note."""
        if self._preparer is None:
            self._preparer = self._make()
            with suppress(VaultIndexerError):  # the same error recurs for each note and is reported there
                self._preparer.warm(model=False)
        return self._preparer

    @contextmanager
    def keywords(self, generation: Generation) -> Iterator[KeywordIndex]:
        """Yields the keyword index of a generation. It stays open for later jobs unless the block fails.

        The process that opened the generation has checked its files in full. A worker that starts later,
        while a user waits for an edit, does not read 600 MB of a large vault again.
        """
        if self._keywords is None or self._keywords[0] != generation:
            self._keywords = (generation, KeywordIndex.open(generation.keywords, check=False))
        index = self._keywords[1]
        try:
            index.refresh()  # the owner may have rebuilt it
            segments = index.segment_count
            yield index
        except (VaultIndexerError, OSError):
            self._keywords = None
            raise
        if index.segment_count < segments:  # a merge took memory
            trim_heap()

    def index(self, parsed: Parsed, note_id: int, segments: Path) -> None:
        """Writes the keyword documents of a note to the worker's segment in the folder `segments`."""
        self._builder = self._builder or SegmentBuilder(segments)
        keyed = ((chunk_key(note_id, ordinal), chunk) for ordinal, chunk in enumerate(parsed.chunks))
        for document in keyword_documents(parsed.note, keyed):
            self._builder.add(document)

    def finish(self) -> Finished:
        """Returns the segments that the worker has written since the last call."""
        builder, self._builder = self._builder, None
        return Finished(tuple(builder.finish()) if builder else ())


def _warm_keywords() -> None:
    """Loads the code that writes and commits keywords, with a temporary index."""
    chunk = Chunk("warm", 0, "", 0, 10, 1, 1, "warming up", "none")
    note = NoteRow(0, "Warm.md", "Warm", "en", "{}", "[]", "[]", 0)
    with TemporaryDirectory(prefix="vault-indexer-") as folder:
        index = KeywordIndex.create(Path(folder))
        index.apply(keyword_documents(note, [(1, chunk)]), [], 1)
        # A deletion as well, because it runs other code than an addition.
        index.apply([], [1], 2)


def catch_up_keywords(generation: Generation, index: KeywordIndex | None = None) -> int:
    """Brings the keyword index of a generation in line with its catalog. Returns the seq. Without `index`,
    the index is opened with all checks. Raises IndexUnusableError if it is damaged."""
    if index is None:
        index = KeywordIndex.open(generation.keywords)
    index.refresh()  # another worker may have written since
    with CatalogReader(generation.catalog) as catalog:
        if index.applied_seq == catalog.seq:
            return catalog.seq
        if index.applied_seq > catalog.seq:  # the ids in it may be assigned again
            raise IndexUnusableError("it contains changes that the index has lost")
        changes = catalog.changes(index.applied_seq)
        if changes is None:
            # Exact whatever happened in between, because chunk keys are never reused.
            held, wanted = index.snapshot().keys, catalog.chunk_key_array()
            added = np.setdiff1d(wanted, held, assume_unique=True).tolist()
            removed = np.setdiff1d(held, wanted, assume_unique=True).tolist()
            changes = Changes(set(added), set(removed))
        elif not changes.touches_text:
            return catalog.seq  # the words have not changed, so nothing is written
        index.apply(documents_of(catalog, changes.added), sorted(changes.removed), catalog.seq)
        return catalog.seq


def rebuild_keywords(generation: Generation) -> None:
    with CatalogReader(generation.catalog) as catalog:
        shutil.rmtree(generation.keywords, ignore_errors=True)
        index = KeywordIndex.create(generation.keywords)
        builder = SegmentBuilder(generation.keywords)
        for document in all_documents(catalog):
            builder.add(document)
        index.adopt(builder.finish(), catalog.seq)


TRIES = 2
ENDED_TWICE = f"{QUARANTINED}reading it ended the worker process twice"
_NAMING_TRIES = 5


def prepare_all(
    pool: Pool, jobs: Sequence[Job], on_other_result: Callable[[Outcome | Died], None] = lambda _result: None
) -> Iterator[PreparedNote | Skipped]:
    """Yields every note of the jobs, prepared or skipped, in order of completion. Jobs of other kinds run as
    well, and `on_other_result` is called with each of their results.

    A job whose worker died is repeated, one note at a time. A note is set aside if it exceeds the limit of
    processor time, exceeds the limit of memory in a job of its own, or ends two fresh workers in jobs of its
    own. Raises ProviderError if a worker reports that the model or the disk failed, DiskFullError if the disk
    is full, and ProcessError if no worker can be started or workers end even when they only name a note.
    """
    retries = _Retries()
    queue: Sequence[Job] = jobs
    while queue:
        for job, result in pool.run(queue, fresh=True) if retries.fresh else pool.run(queue):
            if not isinstance(job, PrepareJob):
                on_other_result(result)
            elif isinstance(result, Failed):
                raise (DiskFullError if result.disk_full else ProviderError)(result.reason)
            elif isinstance(result, Died):
                retries.add(job, result)
            elif isinstance(result, list):
                yield from result
        queue = retries.take()


class _Retries:
    """Jobs that are repeated because their worker died. `fresh`: the jobs taken last need workers that have
    done nothing else, because an earlier job may have ended the worker."""

    def __init__(self) -> None:
        self.fresh = False
        self._deaths: Counter[str] = Counter()
        self._jobs: list[PrepareJob] = []
        self._alone: list[PrepareJob] = []

    def add(self, job: PrepareJob, died: Died) -> None:
        if len(job.paths) > 1:
            for at, path in enumerate(job.paths):
                if path == died.slow_note:
                    self._quarantine(path, died)
                else:
                    self._jobs.append(replace(job, paths=(path,), note_ids=job.note_ids[at : at + 1]))
            return
        path = job.paths[0]
        # An older worker may have died of what it had read before.
        self._deaths[path] += died.fresh or bool(job.quarantine)
        if job.quarantine:
            if self._deaths[path] >= TRIES + _NAMING_TRIES:
                raise ProcessError(f"worker processes end even where {path} is only named: {died.reason}")
            self._jobs.append(job)
        # Alone in its job, the note itself has exceeded the limit.
        elif died.excess:
            self._quarantine(path, died)
        elif self._deaths[path] >= TRIES:
            self._jobs.append(PrepareJob((path,), quarantine=ENDED_TWICE))
        else:
            self._alone.append(job)

    def _quarantine(self, path: str, died: Died) -> None:
        self._jobs.append(PrepareJob((path,), quarantine=f"{QUARANTINED}{died.excess}"))

    def take(self) -> list[PrepareJob]:
        # Suspects come last: the other notes are done by then, whatever happens.
        self.fresh = not self._jobs
        if self.fresh:
            taken, self._alone = self._alone, []
        else:
            taken, self._jobs = self._jobs, []
        return taken
