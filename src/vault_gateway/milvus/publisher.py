"""Writes the notes of one vault and their chunks to the server."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np

from vault_gateway.milvus.connection import Row
from vault_gateway.milvus.retrieval import all_of, number_in, tags_above, text_in, text_literal
from vault_gateway.milvus.schema import (
    MAX_TAGS,
    PATH_BYTES,
    TAG_BYTES,
    CollectionLayout,
    collection_name,
    create_chunks,
    document_text,
)
from vault_gateway.milvus.vaults import MilvusVaults, VaultState, next_epoch
from vault_gateway.published_note import PublishedNote, pack_note
from vault_indexer.errors import BackendError
from vault_indexer.model import kind_of, note_id_of
from vault_indexer.ports import EmbeddingModel
from vault_indexer.system import batches

_LAYOUT = CollectionLayout()
_NOTES_AT_ONCE = 100
_DELETE_KEYS = 2000


class MilvusPublisher:
    """Writes one vault's notes and chunks: changes in place, or all of them, as a new edition.

    Only one thread at a time may use it, and only one daemon writes a vault. Every write can be repeated:
    rows have the primary key of their edition and chunk, and `VaultState` is written after the rows that it
    describes. So a crash leaves a state that is too old, never one that is too new. Raises BackendError, and
    CollectionMissingError if the chunks' collection is missing; `replace` then creates it again.
    """

    def __init__(
        self,
        vaults: MilvusVaults,
        vault: str,
        model: EmbeddingModel,
        *,
        store_bodies: bool,
        layout: CollectionLayout = _LAYOUT,
    ) -> None:
        if not 0 < len(vault.encode()) <= 200:
            raise BackendError(f"a vault id must have 1 to 200 bytes: {vault[:40]!r}")
        self.vault = vault
        self.collection = collection_name(vaults.prefix, model.key)
        self._vaults = vaults
        self._connection = vaults.connection
        self._model = model
        self._store_bodies = store_bodies
        self._layout = layout

    def apply(
        self,
        before: VaultState,
        state: VaultState,
        gone: Collection[int],
        gone_notes: Collection[int],
        come: Iterable[PublishedNote],
    ) -> None:
        """Removes and writes rows of the edition that both states name, and then records `state`. `gone` are
        keys of chunks."""
        for batch in batches(sorted(gone), _DELETE_KEYS):
            primary = [f"{state.edition}:{key}" for key in batch]
            self._connection.call("delete", self.collection, filter=text_in("pk", primary))
        self._write(state, come)
        self._vaults.delete_notes(state, gone_notes)
        self._vaults.put(state, before)

    def replace(
        self, before: VaultState | None, state: VaultState, notes: Iterable[PublishedNote]
    ) -> VaultState:
        """Writes all notes as a new edition, then switches to it. Returns the new active state; the rows of
        `before`, the state until now, remain until `sweep`."""
        self._vaults.create()
        create_chunks(self._connection, self.collection, self._model.dimension, self._layout)
        epoch = next_epoch(before.epoch if before else 0)
        fresh = replace(state, collection=self.collection, epoch=epoch)
        # Each failed replacement leaves rows of an edition of its own.
        self.sweep(before)
        self._write(fresh, notes)
        self._flush()
        # The state is written last: it makes the edition active, and all its rows exist by now.
        self._vaults.put(fresh, before)
        return fresh

    def sweep(self, state: VaultState | None) -> None:
        """Removes the rows of all other editions of the vault, also from the collections of other models."""
        other = [f"edition != {text_literal(state.edition)}"] if state else []
        self._vaults.delete_rows(all_of([text_in("vault", [self.vault]), *other]))

    def is_whole(self, state: VaultState) -> bool:
        """Whether the server returns as many chunks and notes of the edition as recorded in the state."""
        chunks = self._connection.count(self.collection, self._active(state))
        return chunks == state.chunks and self._vaults.count_notes(state) == state.notes

    def has(self, state: VaultState, keys: Collection[int]) -> bool:
        """Whether the server returns these chunks, their notes and the data of the whole vault, looked up by
        their primary keys."""
        if not keys:
            return True
        expression = text_in("pk", [f"{state.edition}:{key}" for key in keys])
        rows = self._connection.find(self.collection, expression, ["key"])
        return len(rows) == len(keys) and self._vaults.has(state, set(map(note_id_of, keys)))

    def keys(self, state: VaultState) -> dict[int, bool]:
        """The keys of all rows of the edition, and whether each has a vector."""
        rows = self._connection.rows(self.collection, self._active(state), ["key", "has_vector"])
        return {int(row["key"]): bool(row["has_vector"]) for row in rows}

    def shows(self, state: VaultState, *, present: Collection[int], absent: Collection[int]) -> bool:
        """Whether the server returns the change, at the configured consistency: the state, all of the keys
        `present` and none of the keys `absent`."""
        if self._vaults.state(self.vault) != state:
            return False
        asked = [*present, *absent]
        if not asked:
            return True
        expression = all_of([self._active(state), number_in("key", asked)])
        rows = self._connection.find(self.collection, expression, ["key"])
        return {int(row["key"]) for row in rows} == set(present)

    def _active(self, state: VaultState) -> str:
        return all_of([text_in("vault", [self.vault]), text_in("edition", [state.edition])])

    def _flush(self) -> None:
        """Makes the server index the written rows; until then Milvus Lite compares a query with every row. A
        server that refuses, because of concurrent flushes, does so by itself later."""
        with suppress(BackendError):
            self._connection.call("flush", self.collection)

    def _write(self, state: VaultState, notes: Iterable[PublishedNote]) -> None:
        """Writes each batch of notes before its chunks, so that the note of every found chunk exists."""
        left = iter(notes)
        while batch := list(islice(left, _NOTES_AT_ONCE)):
            packed = ((one.note_id, pack_note(one, with_text=self._store_bodies)) for one in batch)
            self._vaults.put_notes(state, packed)
            rows = (row for note in batch for row in self._rows(state.edition, note))
            self._connection.write(self.collection, rows)

    def _rows(self, edition: str, note: PublishedNote) -> Iterator[Row]:
        rows = note.stored.rows
        of_note = {
            "vault": self.vault,
            "edition": edition,
            "note_id": note.note_id,
            "path": cut(rows.path, PATH_BYTES),
            "kind": kind_of(rows.path).value,
            "tags": [cut(tag, TAG_BYTES) for tag in tags_above(rows.tags)[:MAX_TAGS]],
        }
        for key in note.keys:
            vector = np.zeros(self._model.dimension, np.float32)
            if key in note.vectors:
                vector = np.frombuffer(note.vectors[key], np.float16).astype(np.float32)
            yield {
                **of_note,
                "pk": f"{edition}:{key}",
                "key": key,
                "terms": document_text(note.terms[key].items()),
                "vector": vector,
                "has_vector": bool(vector.any()),
            }


def cut(text: str, limit: int) -> str:
    # No character has more than four bytes, so most texts need not be encoded.
    if len(text) * 4 <= limit:
        return text
    return text.encode("utf-8")[:limit].decode("utf-8", "ignore")
