"""Keeps what is published of a vault on a Milvus server in step with its catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from vault_indexer.index.documents import keyword_documents, note_words
from vault_indexer.index.weights import WEIGHTS_BLOB
from vault_indexer.model import ChunkRow, NoteRow, note_id_of
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import FIELDS
from vault_indexer.store.milvus import CollectionMissingError, MilvusPublisher, MilvusVaults, VaultState
from vault_indexer.store.retrieval import PublishedChunk
from vault_indexer.vault import kind_of

_KEYS_AT_ONCE = 2000
_PROBED = 50
"""Keys of a change that are asked for, to see whether the server answers with it."""


@dataclass(frozen=True, slots=True)
class PublishedVault:
    """Who publishes what: the vault's id on the server, its name for people, and the daemon that keeps it."""

    vault: str
    name: str
    keeper: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was sent: the state it makes, and some of the keys that came and went with it."""

    state: VaultState
    present: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()


class CatalogPublisher:
    """Applies the commits of one generation's catalog to what the server holds of the vault.

    `follow` brings the server to the catalog's seq: by the log of changes, or by comparing keys where the log
    is too short. `publish_all` writes everything beside and switches: the first time, and where `applied`
    says that the server has lost something. All need the catalog alone, no vault and no model. One thread at
    a time uses it. Raises BackendError; the next call begins where the server really is.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        publisher: MilvusPublisher,
        published: PublishedVault,
        generation: int,
        model: str,
    ) -> None:
        self._vaults = vaults
        self._publisher = publisher
        self._published = published
        self._generation = generation
        self._model = model

    def applied(self, epoch: int) -> VaultState | None:
        """What the server holds of the epoch; None where that is lost or of another index. The rows are
        counted, so that a collection that somebody emptied is noticed."""
        state = self._publisher.state()
        if state is None or state.epoch != epoch or state.generation != self._generation:
            return None
        try:
            return state if self._publisher.count(state) == state.chunks else None
        except CollectionMissingError:
            return None

    def publish_all(self, catalog: CatalogReader) -> VaultState:
        """Write everything beside what is there, and switch."""
        self._vaults.create()
        weights = catalog.blob(WEIGHTS_BLOB)
        digest = self._vaults.put_weights(weights) if weights else ""
        keys = sorted(catalog.chunk_keys())
        state = VaultState(
            vault=self._published.vault,
            name=self._published.name,
            keeper=self._published.keeper,
            collection="",
            model=self._model,
            weights=digest,
            languages=catalog.languages(),
            epoch=0,
            seq=catalog.seq,
            generation=self._generation,
            chunks=len(keys),
        )
        return self._publisher.replace(state, published_chunks(catalog, self._model, keys))

    def follow(self, catalog: CatalogReader, state: VaultState) -> Change:
        """Apply what the catalog has since `state`. Raises CollectionMissingError where all is gone."""
        gone, come = self._difference(catalog, state)
        chunks = published_chunks(catalog, self._model, come)
        after = replace(
            state, seq=catalog.seq, languages=catalog.languages(), chunks=len(catalog.chunk_keys())
        )
        self._publisher.apply(after, gone, chunks)
        left = sorted(gone - come)
        return Change(after, tuple(sorted(come)[:_PROBED]), tuple(left[:_PROBED]))

    def shows(self, change: Change) -> bool:
        """Whether the server answers with the change."""
        return self._publisher.shows(change.state, present=change.present, absent=change.absent)

    def sweep(self, state: VaultState) -> None:
        """Remove what earlier editions have left."""
        self._publisher.sweep(state)

    def _difference(self, catalog: CatalogReader, state: VaultState) -> tuple[set[int], set[int]]:
        """The keys that went and those to be written; both hold those that got their vector."""
        if catalog.trimmed_seq() <= state.seq:
            added, removed = catalog.changes_since(state.seq)
            embedded = catalog.embedded_since(state.seq)
            return removed | embedded, (added | embedded) & catalog.chunk_keys()
        held = self._publisher.keys(state)
        wanted = catalog.chunk_keys()
        embedded = set(catalog.nonzero_vector_keys(self._model))
        late = {key for key, has_vector in held.items() if not has_vector and key in embedded}
        return (held.keys() - wanted) | late, (wanted - held.keys()) | late


def published_chunks(catalog: CatalogReader, model: str, keys: Iterable[int]) -> Iterator[PublishedChunk]:
    """The chunks of these keys as a server gets them, note by note; unknown keys are left out."""
    ordered = iter(sorted(keys))
    while batch := list(islice(ordered, _KEYS_AT_ONCE)):
        vectors = dict(catalog.chunk_vectors(model, batch))
        notes = catalog.notes({note_id_of(key) for key in batch})
        rows = catalog.chunks(batch)
        by_note: dict[int, list[ChunkRow]] = {}
        for key in batch:
            if key in rows:
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
