"""The derived indices of a generation: keywords, vectors, and the list of missing vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

from vault_indexer.arrays import Keys
from vault_indexer.errors import DiskFullError, IndexUnusableError
from vault_indexer.index.jobs import (
    KeywordsApplied,
    KeywordsJob,
    Outcome,
    Pool,
    catch_up_keywords,
    rebuild_keywords,
)
from vault_indexer.index.workers.pool import Died, Failed, run_until_done
from vault_indexer.store import Generation, Snapshot, SnapshotHolder
from vault_indexer.store.catalog import CatalogCache, CatalogReader, CatalogWriter, Changes
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import KeywordIndex, KeywordSnapshot
from vault_indexer.store.vectors import VectorSnapshot
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system import fsync_dir, record, replace_file, temporary_prefix, trim_heap


def _snapshot_of(
    generation: Generation,
    catalog: CatalogReader,
    held: VectorSnapshot,
    keywords: KeywordSnapshot,
    missing_vectors: int,
) -> Snapshot:
    graph, languages = LinkGraph(catalog), catalog.languages().in_order
    return Snapshot(generation.number, catalog, graph, held, keywords, languages, missing_vectors)


@record
class OpenVectors:
    """The vectors of a generation at its catalog's seq. `healed` describes a repair ("" if there was none).
    `missing_vectors` maps the keys of chunks without a vector to the digest of their text."""

    vectors: VectorSnapshot
    healed: str
    missing_vectors: Mapping[int, bytes]


def open_to_read(generation: Generation, model: str, dimension: int) -> Snapshot:
    """Opens a generation that another process may be writing. Nothing is written or repaired: a search does
    not find entries that a derived index lacks until its owner has caught up. Raises IndexUnusableError."""
    catalog = CatalogReader(generation.catalog)
    opened = open_vectors(generation, catalog, model, dimension, repair=False)
    keywords = KeywordIndex.open(generation.keywords, check=False).snapshot()
    return _snapshot_of(generation, catalog, opened.vectors, keywords, len(opened.missing_vectors))


class IndexPrefetch:
    """Reads and checks the files of the derived indices in threads while the owner checks the catalog. On two
    cores that saves two of ten seconds for 845,000 chunks. `base` returns the vector base from its file, and
    `keywords` the keyword index at its last commit; both raise IndexUnusableError."""

    def __init__(self, generation: Generation) -> None:
        with_two = ThreadPoolExecutor(2, "indexer-open")
        self.base = with_two.submit(vectors.load_snapshot, generation.vectors).result
        self.keywords = with_two.submit(KeywordIndex.open, generation.keywords).result
        # No further job follows. The two threads end with the jobs that are running.
        with_two.shutdown(wait=False)


def open_vectors(
    generation: Generation,
    catalog: CatalogReader,
    model: str,
    dimension: int,
    load: Callable[[], VectorSnapshot] | None = None,
    *,
    repair: bool = True,
) -> OpenVectors:
    """Returns the vectors of the base file (or of `load`) with the changes since. If the file is damaged or
    does not fit, all vectors are read from the catalog."""
    reading = ThreadPoolExecutor(1, "indexer-owed")
    owed = reading.submit(_owed, generation, model)  # seconds within SQLite for 845,000 chunks
    reading.shutdown(wait=False)
    embedded = catalog.embedded_keys()
    healed = ""
    try:
        # The file, its dimension, the reach of the log, the set of keys: each check excludes another kind of
        # damage.
        base = load() if load else vectors.load_snapshot(generation.vectors)
        if dimension and base.dimension != dimension:
            raise IndexUnusableError("they belong to another model")
        changes = catalog.changes(base.seq)
        if changes is None:
            raise IndexUnusableError("it does not fit the log of changes")
        current = _with_changes(base, catalog, changes, model)
        if not _are_among(current.live, embedded):
            raise IndexUnusableError("not those of the notes")
    except IndexUnusableError as error:
        healed = f"vectors: {error}; rebuilt from the notes in the index"
        current = rebuild_vectors(generation, catalog, model, dimension, repair=repair)
    return OpenVectors(current, healed, owed.result())


def _owed(generation: Generation, model: str) -> Mapping[int, bytes]:
    with CatalogReader(generation.catalog) as catalog:
        return catalog.missing_vectors(model)


def _are_among(keys: Keys, known: Keys) -> bool:
    """Returns whether all keys are among the known keys, which must be in ascending order."""
    if not len(known):
        return not len(keys)
    at = known.searchsorted(keys)
    # A key above all others is compared with the first one, which differs.
    at[at == len(known)] = 0
    return np.array_equal(known[at], keys)


def _with_changes(
    held: VectorSnapshot, catalog: CatalogReader, changes: Changes, model: str
) -> VectorSnapshot:
    """Returns the vectors of this state of the catalog, from those before the `changes`. A chunk that has
    just been embedded is removed and added again, so that no vector can occur twice."""
    rows = catalog.chunk_vectors(model, changes.added | changes.embedded)
    return held.with_changes(catalog.seq, changes.removed | changes.embedded, rows)


def rebuild_vectors(
    generation: Generation, catalog: CatalogReader, model: str, dimension: int, *, repair: bool = True
) -> VectorSnapshot:
    """Returns all vectors of the catalog as one base. Writes it to the generation's file if `repair`."""
    made = _base_of(catalog, model, dimension)
    if repair:
        vectors.save_snapshot(made, generation.vectors)
    return made


def _base_of(catalog: CatalogReader, model: str, dimension: int) -> VectorSnapshot:
    rows, most = catalog.all_chunk_vectors(model), catalog.embedded_count()
    return vectors.build_snapshot(catalog.seq, dimension, rows, most)


@record
class CompactionJob:
    """A job that writes all current vectors of a catalog as the next base of its generation, in a separate
    process while edits continue.

    It reads one state of the catalog and writes `vectors.faiss.next`. The owner of the generation then loads
    that file, applies the changes since, and renames it to `vectors.faiss`. The list of changes reaches back
    to the older of both bases until that is done, so a crash at any moment leaves a base that can be used.
    """

    generation: Generation
    model: str
    dimension: int

    def run(self, _worker: object) -> None:
        with CatalogReader(self.generation.catalog) as catalog:
            made = _base_of(catalog, self.model, self.dimension)
        vectors.save_snapshot(made, self.generation.next_vectors)


@record
class MergeJob:
    """A job that runs one merge of the segments that the merge policy of the keyword index chooses."""

    generation: Generation

    def run(self, _worker: object) -> None:
        KeywordIndex.open(self.generation.keywords, check=False).merge_segments()


def use_next_base(generation: Generation) -> None:
    """Replaces the base by the next base, which is complete and on disk. Raises OSError."""
    replace_file(generation.next_vectors, generation.vectors)
    fsync_dir(generation.folder)


def discard_next_base(generation: Generation) -> None:
    """Removes a next base, complete or partly written. Raises OSError."""
    generation.next_vectors.unlink(missing_ok=True)
    for path in generation.folder.glob(f"{temporary_prefix(generation.next_vectors)}*.tmp"):
        path.unlink(missing_ok=True)


# The followers of the catalog's change log: after a failure, the next call applies the same changes again. A
# published index has one more, `vault_gateway.publication`. It waits for a server, so it has its own thread
# and reader.

_TRIES = 3


class KeywordFollower:
    """Brings the keyword index to the catalog's state in a worker process.

    Analysing text in this process would block the interpreter that answers searches. Opening repairs the
    index: an index that is behind catches up, a damaged one is rebuilt, and `healed` gets a line. Raises
    IndexUnusableError if the index cannot be written, and DiskFullError if there is no room.
    """

    def __init__(self, generation: Generation, pool: Pool, files: IndexPrefetch, healed: list[str]) -> None:
        self._generation = generation
        self._pool = pool
        self._healed = healed
        try:
            self._applied_seq = self._wanted_seq = catch_up_keywords(generation, files.keywords())
            self.index = KeywordIndex.open(generation.keywords, check=False)  # it has just been checked
        except IndexUnusableError as error:
            self._heal(str(error))

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """Runs a KeywordsJob, unless only vectors have changed or an earlier job has done it already."""
        if changes.touches_text:
            self._wanted_seq = catalog.seq
        if self._applied_seq < self._wanted_seq:
            self._run(KeywordsJob(self._generation))

    def rebuild(self, catalog: CatalogReader) -> None:
        """Rebuilds the index in this process, because a repair waits for it."""
        rebuild_keywords(self._generation)
        self._applied_seq = self._wanted_seq = catalog.seq
        self.index = KeywordIndex.open(self._generation.keywords)

    def compact(self) -> None:
        self._run(KeywordsJob(self._generation, compact=True))

    def note_result(self, result: Outcome | Died) -> None:
        """Records the result of a KeywordsJob that ran among others. If it failed, `follow` runs another."""
        if isinstance(result, KeywordsApplied):
            self._applied_seq = result.seq

    def _heal(self, reason: str) -> None:
        self._healed.append(f"keywords: {reason}; rebuilt from the notes in the index")
        with CatalogReader(self._generation.catalog) as catalog:
            self.rebuild(catalog)

    def _run(self, job: KeywordsJob) -> None:
        result = run_until_done(self._pool, job, _TRIES)
        self.note_result(result)
        if isinstance(result, Failed):
            if result.disk_full:
                raise DiskFullError(result.reason)  # the index is intact and only behind
            self._heal(result.reason)
        elif isinstance(result, Died):
            raise IndexUnusableError(
                f"the keyword index of {self._generation.folder} cannot be brought up to date:"
                f" {result.reason}"
            )


class PendingEmbeddings:
    """The chunks that are searchable by word and by link but still have no vector: their keys by the digest
    of their text, in the order in which they will be embedded.

    The catalog is the authority: the list is read from it at opening and updated with every commit. One
    thread changes it; any thread may read its length.
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
        return len(self._digests)

    def __contains__(self, key: int) -> bool:
        return key in self._digests

    def follow(self, catalog: CatalogReader, changes: Changes) -> None:
        """Puts chunks that were added without a vector first."""
        self.drop(changes.removed | changes.embedded)
        self.put_first(catalog.missing_vectors(self._model, changes.added))

    def rebuild(self, catalog: CatalogReader) -> None:
        """Reads all missing vectors again, in the order of the keys."""
        self._use(catalog.missing_vectors(self._model))

    def put_first(self, chunks: Mapping[int, bytes]) -> None:
        """Puts these chunks first: they have just been edited, and the user works on them."""
        for key, digest in chunks.items():
            self._add(key, digest)
        for digest in reversed(list(chunks.values())):
            self._keys.move_to_end(digest, last=False)

    def drop(self, keys: Iterable[int]) -> None:
        """Removes chunks that were deleted or have their vector. Unknown keys are ignored."""
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
        """Moves chunks whose texts could not be embedded to the end, so that the others do not wait for
        them."""
        for key in keys:
            if key in self._digests:
                self._keys.move_to_end(self._digests[key])

    def waiting_for(self, digests: Iterable[bytes]) -> list[int]:
        return [key for digest in digests for key in self._keys.get(digest, ())]

    def _add(self, key: int, digest: bytes) -> None:
        if key not in self._digests:
            self._digests[key] = digest
            self._keys[digest] = (*self._keys.get(digest, ()), key)


class DerivedIndices:
    """Keeps the keyword index and the vectors of one generation in sync with its catalog.

    IndexWriter owns it and calls it from its thread; any thread may lease snapshots from `holder` and read
    the length of `pending_embeddings`. The catalog is the authority: lost or damaged data of the indices is
    rebuilt from it. Opening repairs: indices that are behind catch up, damaged ones are rebuilt, and `healed`
    reports this. Each snapshot shows catalog, words and vectors of the same commit. Raises IndexUnusableError
    if the catalog itself cannot be read.
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
            self._vectors = opened.vectors
            self.pending_embeddings = PendingEmbeddings(model, opened.missing_vectors)
            self.publish()
        except BaseException:
            self.holder.publish(None)
            raise

    @property
    def is_behind(self) -> bool:
        return self._followed_seq != self._catalog.seq

    @property
    def needs_merge(self) -> bool:
        return self.keywords.index.needs_merge

    def follow(self) -> None:
        """Applies the commits since the last call, then publishes the resulting state. A new vector base is
        written here only if none was written in the background for a long time."""
        if not self.is_behind:
            return
        catalog = self._read()
        changes = catalog.changes(self._vectors.seq)
        if changes is None:
            self.pending_embeddings.rebuild(catalog)
            self._rebuild_vectors(catalog)
            self.keywords.rebuild(catalog)
        else:
            self.pending_embeddings.follow(catalog, changes)
            self._vectors = _with_changes(self._vectors, catalog, changes, self._model)
            self.keywords.follow(catalog, changes)
        if self._vectors.compaction_overdue:
            self.compact_vectors()
        self.publish(catalog)
        self._followed_seq = catalog.seq

    def publish(self, catalog: CatalogReader | None = None) -> None:
        catalog = catalog or self._read()
        keywords = self.keywords.index.refresh()
        missing = len(self.pending_embeddings)
        self.holder.publish(_snapshot_of(self._generation, catalog, self._vectors, keywords, missing))

    def take_healed(self) -> list[str]:
        repaired = self.healed.copy()
        self.healed.clear()
        return repaired

    def rebuild(self, stores: Collection[str]) -> None:
        """Rebuilds "keywords" and "vectors" from the catalog if they are in `stores`."""
        self.follow()
        with self._read() as catalog:
            if "keywords" in stores:
                self.keywords.rebuild(catalog)
            if "vectors" in stores:
                self.pending_embeddings.rebuild(catalog)
                self.compact_vectors()

    def compact(self) -> None:
        """Removes from disk the data that the catalog no longer contains: postings of deleted chunks and rows
        of the vector base. Also clears cached texts."""
        self.keywords.compact()
        self.compact_vectors()
        self._cache.clear()
        self.publish()

    @property
    def worth_compacting(self) -> bool:
        return self._vectors.worth_compacting

    def begin_compaction(self) -> CompactionJob:
        """Returns the job that writes a new base. It replaces any earlier compaction job."""
        # Compared by `adopt_base`: a purge meanwhile replaces the base.
        self._compacted = self._vectors.base
        return CompactionJob(self._generation, self._model, self._dimension)

    def load_next_base(self) -> VectorSnapshot:
        """Loads the base that the process has written, and prepares it for searches like the current one.
        Takes seconds. Any thread. Raises IndexUnusableError if the file is damaged."""
        made = vectors.load_snapshot(self._generation.next_vectors)
        # Otherwise the first searches after the switch would be slower than those before.
        if self._vectors.look.coarse is not None:
            made.look.make()
        return made

    def adopt_base(self, made: VectorSnapshot) -> bool:
        """Switches searches to this base, with the changes since its start. Returns False without a change if
        the base that it was to replace is no longer in use (it may contain data that was purged since), or if
        the log does not reach back far enough. Raises IndexUnusableError or OSError; each of the two files
        then still contains a complete base of this catalog."""
        self.follow()
        with self._read() as catalog:
            changes = catalog.changes(made.seq)
            if changes is None or self._compacted is not self._vectors.base:
                discard_next_base(self._generation)
                return False
            current = _with_changes(made, catalog, changes, self._model)
            # Before the log is shortened: a crash in between finds a base that the log still reaches.
            use_next_base(self._generation)
            self._vectors, self._compacted = current, None
            self._trim_log(made.seq)
        self.publish()
        trim_heap()
        return True

    def compact_vectors(self) -> None:
        """Writes all vectors as a new base now, and shortens the catalog's list of changes. A base that is
        being written in the background is discarded."""
        self._compacted = None
        discard_next_base(self._generation)
        with self._read() as catalog:
            self._rebuild_vectors(catalog)
            self._trim_log(catalog.seq)
        trim_heap()

    def _rebuild_vectors(self, catalog: CatalogReader) -> None:
        self._vectors = rebuild_vectors(self._generation, catalog, self._model, self._dimension)

    def close(self) -> None:
        """Writes a new vector base if there were many changes since the last, and closes the snapshot."""
        if self.worth_compacting:
            self.compact_vectors()
        self.holder.publish(None)

    def _trim_log(self, base_seq: int) -> None:
        """Removes the entries of the log that both the vector base and the keyword index contain."""
        self._catalog.trim_changes(min(base_seq, self.keywords.index.applied_seq))

    def _read(self) -> CatalogReader:
        return CatalogReader(self._generation.catalog, self._cache)
