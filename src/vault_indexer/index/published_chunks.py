"""The chunks of a catalog as a server gets them, prepared in a process of their own.

Analysing text in the daemon would hold the interpreter that answers searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vault_indexer.errors import ProcessError, UnavailableError
from vault_indexer.index.documents import keyword_documents, note_words
from vault_indexer.index.workers.job import Died, Failed, JobWorker
from vault_indexer.index.workers.pool import WorkerPool
from vault_indexer.model import ChunkRow, NoteRow, note_id_of
from vault_indexer.store import PublishedChunk
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import FIELDS
from vault_indexer.system import ProcessLimits
from vault_indexer.vault import kind_of

_KEYS_AT_ONCE = 2000
_TRIES = 2


@dataclass(frozen=True, slots=True)
class PublishJob:
    """Prepare the chunks of these keys."""

    catalog: Path
    model: str
    keys: tuple[int, ...]

    def run(self, _worker: object) -> list[PublishedChunk]:
        """Implements Runnable."""
        catalog = CatalogReader(self.catalog)
        try:
            return list(published_chunks(catalog, self.model, self.keys))
        finally:
            catalog.close()


class ChunkWorker:
    """Prepares chunks in a worker process, which starts with the first of them.

    A CatalogPublisher owns one. The process reads the catalog as it is then: of a chunk that was removed
    meanwhile nothing is given. One thread calls it, and any thread may call `stop`. Raises UnavailableError,
    ProcessError or OSError where it cannot work.
    """

    def __init__(self, catalog: Path, limits: ProcessLimits) -> None:
        self._catalog = catalog
        self._pool: WorkerPool[PublishJob, list[PublishedChunk] | Failed] = WorkerPool(1, JobWorker, limits)

    def chunks(self, model: str, keys: Iterable[int]) -> Iterator[PublishedChunk]:
        """The chunks of these keys, in their order; unknown keys are left out."""
        ordered = iter(sorted(keys))
        while batch := tuple(islice(ordered, _KEYS_AT_ONCE)):
            yield from self._prepare(PublishJob(self._catalog, model, batch))

    def rest(self) -> None:
        """End the process; the next chunk starts another."""
        self._pool.close()

    def stop(self) -> None:
        """Let a call under way end soon, with UnavailableError; only `rest` may follow. Any thread."""
        self._pool.stop()

    def _prepare(self, job: PublishJob) -> list[PublishedChunk]:
        died = Died()
        for _ in range(_TRIES):
            for _, result in self._pool.run([job]):
                if isinstance(result, list):
                    return result
                if isinstance(result, Failed):
                    raise UnavailableError(result.reason)
                died = result
        raise ProcessError(f"chunks could not be prepared for the server: {died.reason}")


def published_chunks(catalog: CatalogReader, model: str, keys: Iterable[int]) -> Iterator[PublishedChunk]:
    """The chunks of these keys as a server gets them, note by note; unknown keys are left out."""
    ordered = iter(sorted(keys))
    while batch := list(islice(ordered, _KEYS_AT_ONCE)):
        vectors = dict(catalog.chunk_vectors(model, batch))
        notes = catalog.notes({note_id_of(key) for key in batch})
        rows = catalog.chunks(batch)
        by_note: dict[int, list[ChunkRow]] = {}
        for key in batch:
            if key in rows and not rows[key].chunk.is_context:
                by_note.setdefault(note_id_of(key), []).append(rows[key])
        for note_id, own in by_note.items():
            yield from _of_note(notes[note_id], own, vectors)


def _of_note(
    note: NoteRow, rows: Sequence[ChunkRow], vectors: Mapping[int, bytes]
) -> Iterator[PublishedChunk]:
    documents = keyword_documents(note_words(note), ((row.key, row.chunk) for row in rows))
    kind, tags = kind_of(note.path).value, tuple(tag.casefold() for tag in note.tags)
    for row, document in zip(rows, documents, strict=True):
        chunk, vector = row.chunk, vectors.get(row.key)
        yield PublishedChunk(
            key=row.key,
            note_id=row.note_id,
            path=note.path,
            title=note.title,
            kind=kind,
            tags=tags,
            language=note.language,
            modified_ns=note.mtime_ns,
            header_path=chunk.header_path,
            start_pos=chunk.start_pos,
            end_pos=chunk.end_pos,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            body=chunk.body,
            fields=tuple((name, tuple(getattr(document, name))) for name in FIELDS),
            vector=vector,
        )
