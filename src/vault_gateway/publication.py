"""Keeps the publication of a vault on a Milvus server in step with its catalog."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from vault_gateway.milvus import (
    CollectionMissingError,
    MilvusPublisher,
    MilvusVaults,
    VaultState,
    require_version,
)
from vault_gateway.owner import PublishedVault, require_owner
from vault_gateway.published_note import PublishedNote, terms_of
from vault_indexer.errors import ProcessError, UnavailableError
from vault_indexer.index.compatibility import WEIGHTS_BLOB
from vault_indexer.index.jobs import keyword_documents
from vault_indexer.index.workers.pool import Died, Failed, JobWorker, Runnable, WorkerPool, run_until_done
from vault_indexer.model import CHUNK_KEY_BITS, note_id_of
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store import Generation, VaultStatistics
from vault_indexer.store.catalog import CatalogReader, Changes, stored_notes
from vault_indexer.store.keywords import KeywordIndex, Vocabulary
from vault_indexer.store.vectors import SAMPLED, spread_evenly
from vault_indexer.system import ProcessLimits, batches, record, write_atomically

# Notes are prepared in a separate process: text analysis in the daemon would block the interpreter that
# answers searches.


_NOTES_AT_ONCE = 200
_TRIES = 2

Result = TypeVar("Result")


@record
class NotesJob:
    generation: Generation
    model: str
    note_ids: tuple[int, ...]

    def run(self, _worker: object) -> list[PublishedNote]:
        with CatalogReader(self.generation.catalog) as catalog:
            return list(published_notes(catalog, self.model, self.note_ids))


@record
class StatisticsJob:
    """Requests the word counts of a generation, which is published as `vault`."""

    generation: Generation
    vault: str
    model: str
    dimension: int

    def run(self, _worker: object) -> bytes:
        with CatalogReader(self.generation.catalog) as catalog:
            return statistics_of(self.generation, catalog, self.model, self.dimension).to_bytes(self.vault)


class PublishingWorker:
    """Prepares the notes of one generation, and its statistics, in a worker process, which starts with the
    first call.

    A CatalogPublisher owns one. The process reads the current catalog, so notes that were removed meanwhile
    are omitted. One thread calls it, and any thread may call `stop`. Raises UnavailableError, ProcessError or
    OSError if it cannot work.
    """

    def __init__(self, generation: Generation, limits: ProcessLimits) -> None:
        self._generation = generation
        self._pool: WorkerPool[Runnable[object, Any], Any] = WorkerPool(1, JobWorker, limits)

    def notes(self, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
        for batch in batches(sorted(note_ids), _NOTES_AT_ONCE):
            yield from self._prepare(NotesJob(self._generation, model, tuple(batch)))

    def statistics(self, vault: str, model: str, dimension: int) -> bytes:
        """The statistics of the vault, as `VaultStatistics.to_bytes` returns them."""
        return self._prepare(StatisticsJob(self._generation, vault, model, dimension))

    def rest(self) -> None:
        self._pool.close()

    def stop(self) -> None:
        """Makes a call in progress end soon, with UnavailableError; only `rest` may follow. Any thread may
        call it."""
        self._pool.stop()

    def _prepare(self, job: Runnable[object, Result]) -> Result:
        result: Result | Failed | Died = run_until_done(self._pool, job, _TRIES)
        if isinstance(result, Failed):
            raise UnavailableError(result.reason)
        if isinstance(result, Died):
            raise ProcessError(f"notes could not be prepared for the server: {result.reason}")
        return result


def published_notes(catalog: CatalogReader, model: str, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
    """The notes with these ids in the form for a server, ascending; unknown ids are omitted."""
    for batch in batches(sorted(note_ids), _NOTES_AT_ONCE):
        notes = catalog.notes(batch)
        for stored in stored_notes(catalog, batch):
            rows = [row for row in catalog.chunks_of(stored.note_id) if not row.chunk.is_context]
            keyed = ((row.key, row.chunk) for row in rows)
            documents = keyword_documents(notes[stored.note_id], keyed)
            vectors = dict(catalog.chunk_vectors(model, [row.key for row in rows]))
            yield PublishedNote(stored, {document.key: terms_of(document) for document in documents}, vectors)


def statistics_of(
    generation: Generation, catalog: CatalogReader, model: str, dimension: int
) -> VaultStatistics:
    """The statistics of the whole vault, from the keyword index of the generation and its catalog. Raises
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


_PROBED = 50
"""The number of keys of a change that are queried to see whether the server returns it."""


_FEW_CHUNKS, _PART = 20, 20
"""Words are counted again after this number of chunks was added or removed, or a twentieth of all. A rule of
thumb."""

_RECOUNT_MS = 600_000
"""The time after which they are counted again with the next change. A rule of thumb."""

_LOOKED_UP = 5
"""The number of rows that are looked up while nothing changes."""


@record
class Change:
    """A sent change: the resulting state, and some of the added and removed keys."""

    state: VaultState
    present: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()


class CatalogPublisher:
    """Applies the commits of one generation's catalog to the vault's rows on the server.

    `follow` brings the server to the catalog's seq: by the log of changes, or by comparing keys if the log is
    too short or rows are missing. `publish_all` writes everything as a new edition and switches to it: the
    first time, and if the server has lost the collection or the vault's state. Both need only the catalog, no
    vault and no model, and both can be repeated after a failure. All methods first check whether this index
    is the owner of the publication. Only one thread at a time may use it. Raises BackendError, and
    NotOwnerError.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        publisher: MilvusPublisher,
        published: PublishedVault,
        generation: int,
        model: EmbeddingModel,
        source: PublishingWorker,
    ) -> None:
        self._vaults = vaults
        self._publisher = publisher
        self._published = published
        self._generation = generation
        self._model = model
        self._source = source
        self._counted: VaultState | None = None
        """The state that this process has counted the words for last."""

    def applied(self, epoch: int) -> VaultState | None:
        """The server's state of this generation, published as `epoch`; None if it is missing or belongs to
        another index."""
        state = require_owner(self._vaults, self._published)
        mine = epoch, self._generation, self._publisher.collection
        if state is None or (state.epoch, state.generation, state.collection) != mine:
            return None
        return state

    def is_whole(self, state: VaultState) -> bool:
        """Whether the number of rows is complete, which the server determines by a full scan. Raises
        CollectionMissingError."""
        return self._publisher.is_whole(state)

    def has_newest(self, catalog: CatalogReader, state: VaultState) -> bool:
        """Whether the newest rows of every collection exist, looked up by their primary keys. This costs
        almost nothing, and detects a missing or empty collection. Raises CollectionMissingError."""
        return self._publisher.has(state, catalog.chunk_key_array()[-_LOOKED_UP:].tolist())

    def publish_all(self, catalog: CatalogReader) -> Change:
        self._vaults.create()
        before, now_ms = require_owner(self._vaults, self._published), _now_ms()
        keys = catalog.chunk_key_array().tolist()
        note_ids = _notes_of(keys)
        state = VaultState(
            vault=self._published.vault,
            name=self._published.name,
            keeper=self._published.keeper,
            collection="",
            model=self._model.key,
            weights=self._put_weights(catalog),
            languages=catalog.languages().in_order,
            epoch=0,
            seq=catalog.seq,
            generation=self._generation,
            chunks=len(keys),
            notes=len(note_ids),
            statistics=self._put_statistics(),
            place=self._published.place,
            owner=self._published.owner,
            claimed_ms=before.claimed_ms if before else now_ms,
            published_ms=now_ms,
            seen_ms=now_ms,
        )
        made = self._publisher.replace(before, state, self._notes(note_ids))
        self._counted = made
        return Change(made, tuple(keys[-_PROBED:]))

    def follow(self, catalog: CatalogReader, state: VaultState, *, whole: bool = True) -> Change:
        """Applies the changes in the catalog since `state`; with `whole` false, compares all rows instead:
        adds missing ones and removes those that the catalog does not have. Raises CollectionMissingError if
        the collection is missing, and OutdatedStateError if the server has another state."""
        require_version(require_owner(self._vaults, self._published), state)
        changes, note_ids = catalog.changes(state.seq) if whole else None, set[int]()
        if changes is None:
            changes, note_ids = self._compare_keys(catalog, state), self._vaults.note_ids(state)
        gone, come = changes.removed, changes.added | changes.embedded
        keys = catalog.chunk_key_array()
        wanted_notes = set(np.unique(keys >> CHUNK_KEY_BITS).tolist())
        after = replace(
            self._seen(state),
            seq=catalog.seq,
            languages=catalog.languages().in_order,
            chunks=len(keys),
            notes=len(wanted_notes),
            published_ms=_now_ms(),
        )
        if not whole:
            after = replace(after, weights=self._put_weights(catalog))
        if not whole or self._are_outdated(after):
            after = replace(after, statistics=self._put_statistics())
            self._counted = after
        # A note that lost chunks but still has others must not be removed.
        gone_notes = (_notes_of(gone) | note_ids) - wanted_notes
        self._publisher.apply(state, after, gone, gone_notes, self._notes(_notes_of(come)))
        return Change(after, tuple(sorted(come)[-_PROBED:]), tuple(sorted(gone)[-_PROBED:]))

    def show_presence(self, state: VaultState) -> Change:
        """Reports to the server that the keeper is active although nothing has changed."""
        seen = self._seen(state)
        self._vaults.put(seen, state)
        return Change(seen)

    def _seen(self, state: VaultState) -> VaultState:
        """The state as of now; the folder may have been moved, and the keeper renamed."""
        of = self._published
        return replace(state, name=of.name, keeper=of.keeper, place=of.place, seen_ms=_now_ms())

    def shows(self, change: Change) -> bool:
        return self._publisher.shows(change.state, present=change.present, absent=change.absent)

    def sweep(self, state: VaultState) -> None:
        self._publisher.sweep(state)
        self._vaults.drop_statistics(state, state.statistics)

    def rest(self) -> None:
        """Ends the worker, because nothing will be published for a while."""
        self._source.rest()

    def close(self) -> None:
        """Closes the connection and ends a call in progress. Any thread may call it."""
        self._source.stop()
        self._vaults.connection.close()

    def _notes(self, note_ids: Iterable[int]) -> Iterator[PublishedNote]:
        return self._source.notes(self._model.key, note_ids)

    def _put_weights(self, catalog: CatalogReader) -> str:
        weights = catalog.blob(WEIGHTS_BLOB)
        return self._vaults.put_blob(weights) if weights else ""

    def _put_statistics(self) -> str:
        """Counts the words, and sends the counts. Returns their digest."""
        vault, model = self._published.vault, self._model
        return self._vaults.put_statistics(vault, self._source.statistics(vault, model.key, model.dimension))

    def _are_outdated(self, state: VaultState) -> bool:
        """Whether the words must be counted again: a share of the chunks is new, or the last count is old.
        The rarity of words changes slowly."""
        counted = self._counted
        if counted is None or (counted.epoch, counted.generation) != (state.epoch, state.generation):
            return True
        moved = abs(state.chunks - counted.chunks) > max(_FEW_CHUNKS, counted.chunks // _PART)
        return moved or state.published_ms - counted.published_ms > _RECOUNT_MS

    def _compare_keys(self, catalog: CatalogReader, state: VaultState) -> Changes:
        held = self._publisher.keys(state)
        wanted = catalog.chunk_keys()
        late = {key for key, has_vector in held.items() if not has_vector}
        late &= set(catalog.nonzero_vector_keys(self._model.key))
        missing = _notes_of(wanted) - self._vaults.note_ids(state)
        without_note = {key for key in wanted if note_id_of(key) in missing}
        added = (wanted - held.keys()) | without_note
        return Changes(added=added, removed=held.keys() - wanted, embedded=late)


def _notes_of(keys: Iterable[int]) -> set[int]:
    return set(map(note_id_of, keys))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class PublishedEpoch:
    """The file in a generation's folder with the epoch of its publication; 0 if it is missing. An index that
    was deleted and rebuilt has no such file, so that no state of the old one is mistaken for its own."""

    def __init__(self, generation: Generation) -> None:
        self._path = generation.folder / "published"

    def read(self) -> int:
        try:
            return int(self._path.read_text("ascii"))
        except (OSError, ValueError):
            return 0

    def write(self, epoch: int) -> None:
        """Writes the epoch durably. Raises OSError."""
        write_atomically(self._path, f"{epoch}\n".encode())


class Publication:
    """The publication of one generation: the server's progress, and the next step towards the catalog.

    After a failed step, the server is authoritative: the state is read again, and its rows are counted, or
    compared if the catalog has changed since. They are also compared if the server's state differs from the
    last one of this process. Only one thread at a time may use it.
    """

    def __init__(self, publisher: CatalogPublisher, mark: PublishedEpoch) -> None:
        self._publisher = publisher
        self._mark = mark
        self._state: VaultState | None = None
        self._counted: VaultState | None = None
        """The last state whose rows were all there, or were written by this process."""
        self._unseen: Change | None = None
        self._swept = False

    @property
    def applied_seq(self) -> int:
        """The seq up to which the server is up to date; -1 if that is unknown."""
        return -1 if self._state is None or self._unseen is not None else self._state.seq

    def check(self) -> None:
        """Makes the next step read the state and count the rows."""
        self._state = self._unseen = self._counted = None

    def look(self) -> None:
        """Makes the next step read the state, and count the rows if the state has changed on the server."""
        self._state = self._unseen = None

    def step(self, catalog: CatalogReader) -> bool:
        """Brings the server up to date with the catalog. Returns False if it does not return all of it yet;
        the caller must then call again soon. Raises BackendError, OSError."""
        try:
            return self._step(catalog)
        except BaseException:
            self.check()
            raise

    def rest(self) -> None:
        self._publisher.rest()

    def close(self) -> None:
        """Closes the connection; a call in progress fails. Any thread may call it."""
        self._publisher.close()

    def _step(self, catalog: CatalogReader) -> bool:
        if self._state is None:
            self._unseen = self._opened(catalog)
        elif self._state.seq != catalog.seq:
            self._unseen = self._followed(catalog, self._state, whole=True)
        if self._unseen is not None:
            self._state = self._unseen.state
            if not self._publisher.shows(self._unseen):
                return False
            self._unseen = None
        self._counted = self._state
        # Old editions are removed only once the server returns the new one, so that no search finds nothing.
        if self._state is not None and not self._swept:
            self._publisher.sweep(self._state)
            self._swept = True
        return True

    def _opened(self, catalog: CatalogReader) -> Change:
        state = self._publisher.applied(self._mark.read())
        # The state of a server that is ahead of the catalog cannot belong to it.
        if state is None or state.seq > catalog.seq:
            return self._published(catalog)
        self._swept &= _same_rows(self._counted, state)
        try:
            whole = self._is_whole(catalog, state)
        except CollectionMissingError:
            return self._published(catalog)
        if whole and state.seq == catalog.seq:
            return self._publisher.show_presence(state)
        return self._followed(catalog, state, whole=whole)

    def _is_whole(self, catalog: CatalogReader, state: VaultState) -> bool:
        """Whether the server has the rows of a state. If another process wrote it, or a change after it was
        begun, there may be rows that nothing names, which a comparison must find."""
        if _same_rows(self._counted, state):
            return self._publisher.has_newest(catalog, state)
        return self._counted is None and state.seq == catalog.seq and self._publisher.is_whole(state)

    def _followed(self, catalog: CatalogReader, state: VaultState, *, whole: bool) -> Change:
        try:
            return self._publisher.follow(catalog, state, whole=whole)
        except CollectionMissingError:
            return self._published(catalog)

    def _published(self, catalog: CatalogReader) -> Change:
        change = self._publisher.publish_all(catalog)
        self._mark.write(change.state.epoch)
        self._swept = False
        return change


def _same_rows(one: VaultState | None, other: VaultState) -> bool:
    """Whether two states describe the same rows; the time of the keeper's report is ignored."""
    return one is not None and (one.epoch, one.seq, one.chunks) == (other.epoch, other.seq, other.chunks)
