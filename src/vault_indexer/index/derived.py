"""The derived indices of a generation: words, vectors, and the vectors that are still missing."""

from __future__ import annotations

from collections.abc import Collection

from vault_indexer.index.build import Pool
from vault_indexer.index.compaction import CompactionJob, discard_next_base, use_next_base
from vault_indexer.index.followers import Follower, KeywordFollower, VectorFollower
from vault_indexer.index.opening import IndexPrefetch, apply_vector_changes, open_vectors, snapshot_of
from vault_indexer.index.pending_embeddings import PendingEmbeddings
from vault_indexer.store import Generation, SnapshotHolder
from vault_indexer.store.catalog import CatalogCache, CatalogReader, CatalogWriter
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import trim_heap


class DerivedIndices:
    """Keeps the keyword index and the vectors of one generation in step with its catalog.

    IndexWriter owns it and calls it from its thread; any thread may lease snapshots from `holder` and read
    the length of `pending_embeddings`. The catalog is the authority: whatever is lost or damaged here is
    rebuilt from it. Opening repairs: indices that are behind catch up, damaged ones are rebuilt, and `healed`
    says so. Each snapshot shows catalog, words and vectors of the same commit. Raises IndexUnusableError if
    the catalog itself cannot be read.
    """

    def __init__(
        self,
        generation: Generation,
        model: str,
        dimension: int,
        pool: Pool,
        catalog: CatalogWriter,
        files: IndexPrefetch,
    ) -> None:
        self.holder = SnapshotHolder()
        self.healed: list[str] = []
        self._generation = generation
        self._model = model
        self._dimension = dimension
        self._catalog = catalog
        self._cache = CatalogCache()
        self._compacted: object = None
        self._followed_seq = catalog.seq
        discard_next_base(generation)  # left by a process that was killed
        try:
            self.keywords = KeywordFollower(generation, pool, files, self.healed)
            with self._read() as reader:
                opened = open_vectors(generation, reader, model, dimension, files.base)
            self.healed += filter(None, [opened.healed])
            self._vectors = VectorFollower(generation, model, dimension, opened.vectors)
            self.pending_embeddings = PendingEmbeddings(model, opened.missing_vectors)
            self._followers: tuple[Follower, ...] = (self.pending_embeddings, self._vectors, self.keywords)
            self.publish()
        except BaseException:
            self.holder.publish(None)
            raise

    @property
    def is_behind(self) -> bool:
        """Whether there is a commit that has not been followed to the end."""
        return self._followed_seq != self._catalog.seq

    @property
    def needs_merge(self) -> bool:
        """Whether the keyword index has segments that should be merged."""
        return self.keywords.index.needs_merge

    def follow(self) -> None:
        """Apply the commits since the last call, then publish the state they made. A new vector base is made
        here only where nobody has made one in the background for a long time."""
        if not self.is_behind:
            return
        catalog = self._read()
        changes = catalog.changes(self._vectors.snapshot.seq)
        for follower in self._followers:
            if changes is None:
                follower.rebuild(catalog)
            else:
                follower.follow(catalog, changes)
        if self._vectors.snapshot.compaction_overdue:
            self.compact_vectors()
        self.publish(catalog)
        self._followed_seq = catalog.seq

    def publish(self, catalog: CatalogReader | None = None) -> None:
        """Make the state of catalog and indices the one that new readers get."""
        catalog = catalog or self._read()
        keywords = self.keywords.index.refresh()
        held = self._vectors.snapshot
        self.holder.publish(
            snapshot_of(self._generation, catalog, held, keywords, len(self.pending_embeddings))
        )

    def take_healed(self) -> list[str]:
        """What was repaired since the last call."""
        repaired = [*self.healed]
        self.healed.clear()
        return repaired

    def rebuild(self, stores: Collection[str]) -> None:
        """Rebuild "keywords" and "vectors" from the catalog, where `stores` names them."""
        self.follow()
        with self._read() as catalog:
            if "keywords" in stores:
                self.keywords.rebuild(catalog)
            if "vectors" in stores:
                self.pending_embeddings.rebuild(catalog)
                self.compact_vectors()

    def compact(self) -> None:
        """Remove from disk what the catalog no longer holds: postings of deleted chunks, rows of the vector
        base, cached texts."""
        self.keywords.compact()
        self.compact_vectors()
        self._cache.clear()
        self.publish()

    @property
    def worth_compacting(self) -> bool:
        """Whether a new base of the vectors should be made while edits go on."""
        return self._vectors.snapshot.worth_compacting

    def begin_compaction(self) -> CompactionJob:
        """What a process has to do for a new base; it is the only one that counts from now on."""
        self._compacted = self._vectors.snapshot.base
        return CompactionJob(self._generation, self._model, self._dimension)

    def load_next_base(self) -> VectorSnapshot:
        """The base that such a process has written, as ready to be searched as the one in use: seconds of
        work. Any thread. Raises IndexUnusableError if the file is not what was written."""
        made = vectors.load_snapshot(self._generation.next_vectors)
        if self._vectors.snapshot.look.coarse is not None:
            made.look.make()
        return made

    def adopt_base(self, made: VectorSnapshot) -> bool:
        """Search this base from now on, with what has changed since it was begun. False, with nothing
        changed, if the base that it was to replace is no longer in use (what was purged since may be in it),
        or if the log does not tell what has changed.
        Raises IndexUnusableError or OSError; then either file holds a whole base of this catalog."""
        self.follow()
        with self._read() as catalog:
            changes = catalog.changes(made.seq)
            if changes is None or self._compacted is not self._vectors.snapshot.base:
                discard_next_base(self._generation)
                return False
            current = apply_vector_changes(made, catalog, changes, self._model)
            use_next_base(self._generation)
            self._vectors.snapshot, self._compacted = current, None
            self._trim_log(made.seq)
        self.publish()
        trim_heap()
        return True

    def compact_vectors(self) -> None:
        """Write all vectors as a new base here and now, and shorten the catalog's list of changes. A base
        that is being made in the background is dropped."""
        self._compacted = None
        discard_next_base(self._generation)
        with self._read() as catalog:
            self._vectors.rebuild(catalog)
            self._trim_log(catalog.seq)
        trim_heap()

    def close(self) -> None:
        """Write a new vector base if many changes came since the last, and close the snapshot."""
        if self.worth_compacting:
            self.compact_vectors()
        self.holder.publish(None)

    def _trim_log(self, base_seq: int) -> None:
        """Forget of the log what the files of vectors and words hold."""
        self._catalog.trim_changes(min(base_seq, self.keywords.index.applied_seq))

    def _read(self) -> CatalogReader:
        return CatalogReader(self._generation.catalog, self._cache)
