"""The notes of a catalog as a server gets them, prepared in a process of their own.

Analysing text in the daemon would hold the interpreter that answers searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vault_indexer.errors import ProcessError, UnavailableError
from vault_indexer.index.documents import keyword_documents, note_words
from vault_indexer.index.workers.job import Died, Failed, JobWorker, Runnable
from vault_indexer.index.workers.pool import WorkerPool, run_until_done
from vault_indexer.store import Generation, PublishedNote, VaultStatistics, terms_of
from vault_indexer.store.catalog import CatalogReader, stored_notes
from vault_indexer.store.keywords import KeywordIndex, Vocabulary
from vault_indexer.store.vectors import SAMPLED, spread_evenly
from vault_indexer.system import ProcessLimits, batches

_NOTES_AT_ONCE = 200
_TRIES = 2


@dataclass(frozen=True, slots=True)
class NotesJob:
    """Prepare the notes of these ids."""

    generation: Generation
    model: str
    note_ids: tuple[int, ...]

    def run(self, _worker: object) -> list[PublishedNote]:
        """Implements Runnable."""
        with CatalogReader(self.generation.catalog) as catalog:
            return list(published_notes(catalog, self.model, self.note_ids))


@dataclass(frozen=True, slots=True)
class StatisticsJob:
    """Count the words of a generation, which is published as `vault`."""

    generation: Generation
    vault: str
    model: str
    dimension: int

    def run(self, _worker: object) -> bytes:
        """Implements Runnable."""
        with CatalogReader(self.generation.catalog) as catalog:
            return statistics_of(self.generation, catalog, self.model, self.dimension).to_bytes(self.vault)


_Result = list[PublishedNote] | bytes
_Job = Runnable[object, _Result]


class NoteSource(Protocol):
    """Gives the notes of one generation, and what is known of all of them."""

    def notes(self, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
        """The notes of these ids, ascending; unknown ids are left out."""
        ...

    def statistics(self, vault: str, model: str, dimension: int) -> bytes:
        """The statistics of the vault, as `VaultStatistics.to_bytes` gives them."""
        ...

    def rest(self) -> None:
        """Nothing is asked for a while."""
        ...

    def stop(self) -> None:
        """Let a call under way end soon. Any thread."""
        ...


class PublishingWorker:
    """Implements NoteSource in a worker process, which starts with the first call.

    A CatalogPublisher owns one. The process reads the catalog as it is then: of a note that was removed
    meanwhile nothing is given. One thread calls it, and any thread may call `stop`. Raises UnavailableError,
    ProcessError or OSError where it cannot work.
    """

    def __init__(self, generation: Generation, limits: ProcessLimits) -> None:
        self._generation = generation
        self._pool: WorkerPool[_Job, _Result | Failed] = WorkerPool(1, JobWorker, limits)

    def notes(self, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
        """The notes of these ids, ascending; unknown ids are left out."""
        for batch in batches(sorted(note_ids), _NOTES_AT_ONCE):
            prepared = self._prepare(NotesJob(self._generation, model, tuple(batch)))
            assert not isinstance(prepared, bytes)
            yield from prepared

    def statistics(self, vault: str, model: str, dimension: int) -> bytes:
        """The statistics of the vault."""
        counted = self._prepare(StatisticsJob(self._generation, vault, model, dimension))
        assert isinstance(counted, bytes)
        return counted

    def rest(self) -> None:
        """End the process; the next call starts another."""
        self._pool.close()

    def stop(self) -> None:
        """Let a call under way end soon, with UnavailableError; only `rest` may follow. Any thread."""
        self._pool.stop()

    def _prepare(self, job: _Job) -> _Result:
        result = run_until_done(self._pool, job, _TRIES)
        if isinstance(result, Failed):
            raise UnavailableError(result.reason)
        if isinstance(result, Died):
            raise ProcessError(f"notes could not be prepared for the server: {result.reason}")
        return result


def published_notes(catalog: CatalogReader, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
    """The notes of these ids as a server gets them, ascending; unknown ids are left out."""
    for batch in batches(sorted(note_ids), _NOTES_AT_ONCE):
        notes = catalog.notes(batch)
        for stored in stored_notes(catalog, batch):
            rows = [row for row in catalog.chunks_of(stored.note_id) if not row.chunk.is_context]
            words = note_words(notes[stored.note_id])
            documents = keyword_documents(words, ((row.key, row.chunk) for row in rows))
            vectors = dict(catalog.chunk_vectors(model, [row.key for row in rows]))
            yield PublishedNote(stored, {one.key: terms_of(one) for one in documents}, vectors)


def statistics_of(
    generation: Generation, catalog: CatalogReader, model: str, dimension: int
) -> VaultStatistics:
    """What is known of the whole vault, by the keyword index of the generation and its catalog. Raises
    IndexUnusableError."""
    keywords = KeywordIndex.open(generation.keywords, check=False)
    embedded = catalog.nonzero_vector_keys(model)
    chosen = [embedded[at] for at in spread_evenly(len(embedded), SAMPLED).tolist()] if embedded else []
    packed = b"".join(vector for _, vector in catalog.chunk_vectors(model, chosen))
    return VaultStatistics(
        documents=len(keywords.snapshot()),
        notes_by_language=catalog.notes_by_language(),
        vocabulary=Vocabulary.of(keywords.term_frequencies()),
        background=np.frombuffer(packed, np.float16).astype(np.float32).reshape(-1, dimension),
    )
