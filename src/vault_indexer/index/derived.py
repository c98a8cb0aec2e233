"""The derived indices of a generation: words, vectors, and the vectors that are still missing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
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
from vault_indexer.index.opening import (
    IndexPrefetch,
    apply_vector_changes,
    base_of,
    open_vectors,
    rebuild_vectors,
    snapshot_of,
)
from vault_indexer.index.workers.job import Died, Failed
from vault_indexer.index.workers.pool import run_until_done
from vault_indexer.store import Generation, SnapshotHolder
from vault_indexer.store.catalog import CatalogCache, CatalogReader, CatalogWriter, Changes
from vault_indexer.store.keywords import KeywordIndex
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import fsync_dir, replace_file, temporary_prefix, trim_heap

# What a process of its own rewrites while edits go on: the base of the vectors, segments of the keywords.
#
# For a new base it reads one state of the catalog and writes `vectors.faiss.next`. The owner of the
# generation then loads that file, adds what has changed since, and renames it to `vectors.faiss`. The
# list of changes reaches back to the older of both bases until that is done, so a crash at any moment
# leaves a base that can be used.


@dataclass(frozen=True, slots=True)
class CompactionJob:
    """Write all vectors that a catalog has now as the next base of its generation."""

    generation: Generation
    model: str
    dimension: int

    def run(self, _worker: object) -> None:
        with CatalogReader(self.generation.catalog) as catalog:
            made = base_of(catalog, self.model, self.dimension)
        vectors.save_snapshot(made, self.generation.next_vectors)


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Merge the segments of the keyword index that its merge policy chooses, once."""

    generation: Generation

    def run(self, _worker: object) -> None:
        KeywordIndex.open(self.generation.keywords, check=False).merge_segments()


def use_next_base(generation: Generation) -> None:
    """Put the next base, which is whole and on disk, in the place of the base. Raises OSError."""
    replace_file(generation.next_vectors, generation.vectors)
    fsync_dir(generation.folder)


def discard_next_base(generation: Generation) -> None:
    """Remove a next base, and what was written of one. Raises OSError."""
    generation.next_vectors.unlink(missing_ok=True)
    for path in generation.folder.glob(f"{temporary_prefix(generation.next_vectors)}*.tmp"):
        path.unlink(missing_ok=True)


# What follows the catalog's log of changes: vectors, the chunks that still wait for one, and words.
#
# An index that is published has a fourth, `vault_gateway.publication`. It waits for a server, so it has a
# thread and a reader of its own.


_TRIES = 3


class Follower(Protocol):
    """A derived index of one generation, or what is known of one. DerivedIndices calls it from its thread."""

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """Apply the changes since the last call, which lead to this state of the catalog. Where that fails,
        the next call makes up for it."""
        ...

    def rebuild(self, catalog: CatalogReader) -> None: ...


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
        self._run(KeywordCompactionJob(self._generation))

    def note_result(self, result: Outcome | Died) -> None:
        """Record the result of a KeywordsJob that ran among others. If it failed, `follow` runs another."""
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


# The chunks that are in the index by word and by link, and still wait for their vector.


class PendingEmbeddings:
    """Chunk keys by the digest of their text, in the order in which they get their vectors.

    Implements Follower. The catalog is the authority: this is what it says at opening, kept true by every
    commit. One thread changes it; any may ask for its length.
    """

    def __init__(self, model: str, chunks: Mapping[int, bytes]) -> None:
        self._model = model
        self._use(chunks)

    def _use(self, chunks: Mapping[int, bytes]) -> None:
        self._digests: dict[int, bytes] = {}
        self._keys: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        for key, digest in chunks.items():
            self._add(key, digest)

    def __len__(self) -> int:
        """How many chunks wait."""
        return len(self._digests)

    def __contains__(self, key: int) -> bool:
        """Whether this chunk waits."""
        return key in self._digests

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """The chunks that came without a vector are the first."""
        self.drop(changes.removed | changes.embedded)
        self.put_first(catalog.missing_vectors(self._model, changes.added))

    def rebuild(self, catalog: CatalogReader) -> None:
        """In the order of the keys."""
        self._use(catalog.missing_vectors(self._model))

    def put_first(self, chunks: Mapping[int, bytes]) -> None:
        """Chunks that were edited just now: they are what the user works on."""
        for key, digest in chunks.items():
            self._add(key, digest)
        for digest in reversed(list(chunks.values())):
            self._keys.move_to_end(digest, last=False)

    def drop(self, keys: Iterable[int]) -> None:
        """Chunks that are gone, or have their vector; others are left alone."""
        for key in keys:
            digest = self._digests.pop(key, None)
            if digest is None:
                continue
            left = tuple(other for other in self._keys[digest] if other != key)
            if left:
                self._keys[digest] = left
            else:
                del self._keys[digest]

    def next(self, texts: int) -> tuple[int, ...]:
        return tuple(keys[0] for keys in islice(self._keys.values(), texts))

    def put_last(self, keys: Iterable[int]) -> None:
        """Chunks whose texts got no vector: the others are not to wait for them."""
        for key in keys:
            if key in self._digests:
                self._keys.move_to_end(self._digests[key])

    def waiting_for(self, digests: Iterable[bytes]) -> list[int]:
        """All waiting chunks with one of these texts."""
        return [key for digest in digests for key in self._keys.get(digest, ())]

    def _add(self, key: int, digest: bytes) -> None:
        if key not in self._digests:
            self._digests[key] = digest
            self._keys[digest] = (*self._keys.get(digest, ()), key)


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
        here only if none was made in the background for a long time."""
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
