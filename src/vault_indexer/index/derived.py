"""The derived indices of a generation: words, vectors, and the vectors that are still owed."""

from __future__ import annotations

from collections.abc import Collection

from vault_indexer.errors import DiskFullError, IndexUnusableError
from vault_indexer.index.build import Pool
from vault_indexer.index.compaction import CompactionJob, discard_next_base, use_next_base
from vault_indexer.index.jobs import CompactJob, Failed, KeywordsJob, catch_up, rebuild_keywords
from vault_indexer.index.opening import (
    FilesAhead,
    apply_vector_changes,
    open_vectors,
    rebuild_vectors,
    snapshot_of,
)
from vault_indexer.index.owed import Owed
from vault_indexer.index.worker_pool import Died
from vault_indexer.store import Generation, SnapshotHolder
from vault_indexer.store.catalog import CatalogCache, CatalogReader, CatalogWriter
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import give_back

_TRIES = 3


class DerivedIndices:
    """Keeps the keyword index and the vectors of one generation in step with its catalog.

    IndexWriter owns it and calls it from its thread; any thread may lease snapshots from `holder` and read
    the length of `owed`. The catalog is the authority: whatever is lost or damaged here is rebuilt from it.
    Opening repairs: indices that are behind catch up, damaged ones are rebuilt, and `healed` says so. Each
    snapshot shows catalog, words and vectors of the same commit. Raises IndexUnusableError if the catalog
    itself cannot be read.
    """

    def __init__(
        self,
        generation: Generation,
        model: str,
        dimension: int,
        pool: Pool,
        catalog: CatalogWriter,
        files: FilesAhead,
    ) -> None:
        self.holder = SnapshotHolder()
        self.healed: list[str] = []
        self.behind = False
        self._generation = generation
        self._model = model
        self._dimension = dimension
        self._pool = pool
        self._catalog = catalog
        self._cache = CatalogCache()
        self._compacted: object = None
        discard_next_base(generation)  # left by a process that was killed
        try:
            self._heal_keywords(files)
            self._keywords = KeywordIndex.open(generation.keywords, check=False)  # that has just been done
            self._vectors, self.owed = self._open_vectors(files)
            self.publish()
        except BaseException:
            self.holder.publish(None)
            raise

    @property
    def needs_merge(self) -> bool:
        """Whether the keyword index has segments that should be merged."""
        return self._keywords.needs_merge

    def follow(self, *, words: bool = True) -> None:
        """Apply the last commit, then publish the state it made. Without `words` the keyword index is not
        updated: it has followed already, or only vectors that were owed have changed. A new vector base is
        made here only where nobody has made one beside for a long time."""
        catalog = CatalogReader(self._generation.catalog, self._cache)
        self._follow_owed(catalog)
        self._vectors = apply_vector_changes(self._vectors, catalog, self._model)
        if words:
            self._run_in_worker(KeywordsJob(self._generation))
        if self._vectors.compaction_overdue:
            self.compact_vectors()
        self.publish(catalog)
        self.behind = False

    def publish(self, catalog: CatalogReader | None = None) -> None:
        """Make the state of catalog and indices the one that new readers get."""
        catalog = catalog or CatalogReader(self._generation.catalog, self._cache)
        keywords = self._keywords.refresh()
        self.holder.publish(snapshot_of(self._generation, catalog, self._vectors, keywords, len(self.owed)))

    def rebuild(self, stores: Collection[str]) -> None:
        """Rebuild "keywords" and "vectors" from the catalog, where `stores` names them."""
        if "keywords" in stores:
            self._rebuild_keywords()
        if "vectors" in stores:
            self.compact_vectors()
            self.owed = self._read_owed()

    def compact(self) -> None:
        """Remove from disk what the catalog no longer holds: postings of deleted chunks, rows of the vector
        base, cached texts."""
        self._run_in_worker(CompactJob(self._generation))
        self.compact_vectors()
        self._cache.clear()
        self.publish()

    @property
    def worth_compacting(self) -> bool:
        """Whether a new base of the vectors should be made beside the edits."""
        return self._vectors.worth_compacting

    def begin_compaction(self) -> CompactionJob:
        """What a process has to do for a new base; it is the only one that counts from now on."""
        self._compacted = self._vectors.base
        return CompactionJob(self._generation, self._model, self._dimension)

    def load_next_base(self) -> VectorSnapshot:
        """The base that such a process has written, as ready to be searched as the one in use: seconds of
        work. Any thread. Raises IndexUnusableError if the file is not what was written."""
        made = vectors.load_snapshot(self._generation.next_vectors)
        if self._vectors.look.screen is not None:
            made.look.make()
        return made

    def adopt_base(self, made: VectorSnapshot) -> bool:
        """Search this base from now on, with what has changed since it was begun. False, with nothing
        changed, if the base that it was to replace is no longer in use: what was purged since may be in it.
        Raises IndexUnusableError or OSError; then either file holds a whole base of this catalog."""
        if self._compacted is not self._vectors.base:
            discard_next_base(self._generation)
            return False
        catalog = CatalogReader(self._generation.catalog, self._cache)
        try:
            current = apply_vector_changes(made, catalog, self._model)
            use_next_base(self._generation)
            self._vectors, self._compacted = current, None
            self._catalog.trim_changes(min(made.seq, self._keywords.applied_seq))
        finally:
            catalog.close()
        self.publish()
        give_back()
        return True

    def compact_vectors(self) -> None:
        """Write all vectors as a new base here and now, and shorten the catalog's list of changes. A base
        that is being made beside is dropped."""
        self._compacted = None
        discard_next_base(self._generation)
        catalog = CatalogReader(self._generation.catalog, self._cache)
        try:
            self._vectors = rebuild_vectors(self._generation, catalog, self._model, self._dimension)
            self._catalog.trim_changes(min(catalog.seq, self._keywords.applied_seq))
        finally:
            catalog.close()
        give_back()

    def close(self) -> None:
        """Write a new vector base if many changes came since the last, and close the snapshot."""
        if self._vectors.worth_compacting:
            self.compact_vectors()
        self.holder.publish(None)

    def _follow_owed(self, catalog: CatalogReader) -> None:
        # Before the vectors follow: their seq says since when changes count.
        added, removed = catalog.changes_since(self._vectors.seq)
        embedded, owed = catalog.embedded_since(self._vectors.seq), catalog.owed_vectors(self._model, added)
        self.owed.drop(removed | embedded)
        self.owed.put_first(owed)

    def _open_vectors(self, files: FilesAhead) -> tuple[VectorSnapshot, Owed]:
        catalog = CatalogReader(self._generation.catalog)
        try:
            opened = open_vectors(self._generation, catalog, self._model, self._dimension, files.base)
        finally:
            catalog.close()
        if opened.healed:
            self.healed.append(opened.healed)
        return opened.vectors, Owed(opened.owed)

    def _read_owed(self) -> Owed:
        catalog = CatalogReader(self._generation.catalog)
        try:
            return Owed(catalog.owed_vectors(self._model))
        finally:
            catalog.close()

    def _heal_keywords(self, files: FilesAhead) -> None:
        try:
            catch_up(files.keywords(), self._generation)
        except IndexUnusableError as error:
            self.healed.append(f"keywords: {error}; rebuilt from the notes in the index")
            rebuild_keywords(self._generation)

    def _rebuild_keywords(self) -> None:
        rebuild_keywords(self._generation)
        self._keywords = KeywordIndex.open(self._generation.keywords)

    def _run_in_worker(self, job: KeywordsJob | CompactJob) -> None:
        """In a worker process: analysing text would hold the interpreter that answers searches."""
        died = Died()
        for _ in range(_TRIES):
            for _, result in self._pool.run([job]):
                if isinstance(result, int):
                    return
                if isinstance(result, Failed) and result.disk_full:
                    raise DiskFullError(result.message)  # the index is whole, and only behind
                if isinstance(result, Failed):
                    self.healed.append(f"keywords: {result.message}; rebuilt from the notes in the index")
                    self._rebuild_keywords()
                    return
                assert isinstance(result, Died)
                died = result
        raise IndexUnusableError(
            f"the keyword index of {self._generation.folder} cannot be brought up to date: {died.reason}"
        )
