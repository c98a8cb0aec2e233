"""What follows the catalog's log of changes: vectors, the chunks that still wait for one, and words.

An index that is published has a fourth, `vault_gateway.publication`. It waits for a server, so it has a
thread and a reader of its own.
"""

from __future__ import annotations

from typing import Protocol

from vault_indexer.errors import DiskFullError, IndexUnusableError
from vault_indexer.index.build import Pool
from vault_indexer.index.jobs import (
    KeywordCompactionJob,
    KeywordsApplied,
    KeywordsJob,
    Outcome,
    catch_up,
    rebuild_keywords,
)
from vault_indexer.index.opening import IndexPrefetch, apply_vector_changes, rebuild_vectors
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.workers.pool import run_until_done
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, Changes
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors import VectorSnapshot

_TRIES = 3


class Follower(Protocol):
    """A derived index of one generation, or what is known of one. DerivedIndices calls it from its thread."""

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """Apply the changes since the last call, which lead to this state of the catalog. Where that fails,
        the next call makes up for it."""
        ...

    def rebuild(self, catalog: CatalogReader) -> None:
        """Take everything from the catalog again."""
        ...


class VectorFollower:
    """Implements Follower: `snapshot` holds the vectors as searches see them."""

    def __init__(self, generation: Generation, model: str, dimension: int, snapshot: VectorSnapshot) -> None:
        self.snapshot = snapshot
        self._generation = generation
        self._model = model
        self._dimension = dimension

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """In memory; no file changes."""
        self.snapshot = apply_vector_changes(self.snapshot, catalog, changes, self._model)

    def rebuild(self, catalog: CatalogReader) -> None:
        """Also write a new base file."""
        self.snapshot = rebuild_vectors(self._generation, catalog, self._model, self._dimension)


class KeywordFollower:
    """Implements Follower: has a worker process bring the keyword index to the catalog's state.

    Analysing text in this process would hold the interpreter that answers searches. Opening repairs: an
    index that is behind catches up, a damaged one is rebuilt, and `healed` gets a line. Raises
    IndexUnusableError if the index cannot be written, DiskFullError if there is no room.
    """

    def __init__(self, generation: Generation, pool: Pool, files: IndexPrefetch, healed: list[str]) -> None:
        self._generation = generation
        self._pool = pool
        self._healed = healed
        try:
            self._applied_seq = self._wanted_seq = catch_up(files.keywords(), generation)
            self.index = KeywordIndex.open(generation.keywords, check=False)  # that has just been done
        except IndexUnusableError as error:
            self._heal(str(error))

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """Nothing is done for vectors alone, nor where a job that went ahead has done it."""
        if changes.touches_text:
            self._wanted_seq = catalog.seq
        if self._applied_seq < self._wanted_seq:
            self._run(KeywordsJob(self._generation))

    def rebuild(self, catalog: CatalogReader) -> None:
        """In this process: a repair waits for it."""
        rebuild_keywords(self._generation)
        self._applied_seq = self._wanted_seq = catalog.seq
        self.index = KeywordIndex.open(self._generation.keywords)

    def compact(self) -> None:
        """Rewrite the index without what was deleted."""
        self._run(KeywordCompactionJob(self._generation))

    def note_result(self, result: Outcome | Died) -> None:
        """What a KeywordsJob gave that was done beside others. Where it failed, the next call makes up."""
        if isinstance(result, KeywordsApplied):
            self._applied_seq = result.seq

    def _heal(self, reason: str) -> None:
        self._healed.append(f"keywords: {reason}; rebuilt from the notes in the index")
        with CatalogReader(self._generation.catalog) as catalog:
            self.rebuild(catalog)

    def _run(self, job: KeywordsJob | KeywordCompactionJob) -> None:
        result = run_until_done(self._pool, job, _TRIES)
        self.note_result(result)
        if isinstance(result, Failed):
            if result.disk_full:
                raise DiskFullError(result.reason)  # the index is whole, and only behind
            self._heal(result.reason)
        elif isinstance(result, Died):
            raise IndexUnusableError(
                f"the keyword index of {self._generation.folder} cannot be brought up to date:"
                f" {result.reason}"
            )
