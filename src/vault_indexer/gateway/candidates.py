"""The notes that may answer a query, fetched from the server and made into snapshots that can be searched."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.single_flight import SingleFlight
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store import (
    FoundChunk,
    ReceivedNote,
    Selection,
    Snapshot,
    VaultScope,
    VaultStatistics,
    snapshot_of_notes,
    unpack_note,
)
from vault_indexer.store.milvus import MilvusRetriever, MilvusVaults, VaultState
from vault_indexer.system import LruCache
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

log = logging.getLogger("vault_indexer.gateway")

_NOTE_BYTES = 32 << 20
"""Of notes in memory, by their size on the server. Ready to be searched they take some five times as much."""

_VAULTS = 64
"""So many vaults' statistics are in memory: some 2 MB for 60,000 words each."""

NoteKey = tuple[str, int]
"""The edition of a vault, and the note's id."""


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """Notes of one vault, ready to be searched. `have_text` says that all of them came with their text."""

    snapshot: Snapshot
    have_text: bool


@dataclass(frozen=True, slots=True)
class _KeptNote:
    """A note, and the size that it had on the server."""

    note: ReceivedNote
    size: int


class CandidateNotes:
    """Fetches notes and statistics, and remembers them: an edition's note never changes once it has all its
    vectors. Who asks has made sure that the user may read the vaults. Any thread may ask. Raises
    BackendError."""

    def __init__(self, vaults: MilvusVaults, calls: MilvusCalls) -> None:
        self._vaults = vaults
        self._calls = calls
        self._notes: LruCache[NoteKey, _KeptNote] = LruCache(_NOTE_BYTES, lambda kept: kept.size)
        self._empty: LruCache[str, Snapshot] = LruCache(_VAULTS)
        self._loading: SingleFlight[str, Snapshot | None] = SingleFlight()

    def statistics(self, state: VaultState) -> VaultStatistics | None:
        """What is known of the whole vault; None where it is being published."""
        empty = self.empty(state)
        return None if empty is None else empty.statistics

    def empty(self, state: VaultState) -> Snapshot | None:
        """A snapshot of the vault without any note, for what depends on its statistics alone."""
        kept = self._empty.peek(state.statistics)
        return kept or self._loading.get(state.statistics, partial(self._load, state))

    def found(
        self,
        retriever: MilvusRetriever,
        scope: VaultScope,
        vector: Vectors,
        terms: Sequence[QueryTerm],
        selection: Selection,
    ) -> list[FoundChunk]:
        """The chunks nearest to the vector, and those that hold the words best. Raises
        CollectionMissingError."""
        return self._calls.run("search", partial(retriever.both, scope, vector, terms, selection))

    @contextmanager
    def snapshots(
        self, states: Mapping[str, VaultState], wanted: Mapping[str, Iterable[int]]
    ) -> Iterator[dict[str, FoundNotes]]:
        """For each vault a snapshot of the notes of these ids, for the time of the block. A note that is not
        there, or cannot be read, is left out, and so is a vault without statistics."""
        with ExitStack() as cleanup:
            made: dict[str, FoundNotes] = {}
            for vault, ids in wanted.items():
                state = states[vault]
                own, statistics = self._notes_of(state, list(ids)), self.statistics(state)
                if statistics is not None:
                    snapshot = snapshot_of_notes(own, statistics, _dimension(state))
                    cleanup.callback(snapshot.catalog.close)
                    made[vault] = FoundNotes(snapshot, all(note.has_text for note in own))
            yield made

    def _notes_of(self, state: VaultState, ids: Sequence[int]) -> list[ReceivedNote]:
        kept = {note_id: self._notes.peek((state.edition, note_id)) for note_id in ids}
        known = {note_id: one.note for note_id, one in kept.items() if one is not None}
        missing = [note_id for note_id in ids if note_id not in known]
        if missing:
            known |= self._fetch(state, missing)
        return [known[note_id] for note_id in ids if note_id in known]

    def _fetch(self, state: VaultState, ids: Sequence[int]) -> dict[int, ReceivedNote]:
        packed = self._calls.run("notes", partial(self._vaults.notes, state, ids))
        found: dict[int, ReceivedNote] = {}
        for note_id, data in packed.items():
            try:
                note = unpack_note(note_id, data, _dimension(state))
            except ValueError as error:
                log.warning("%s: note %d: %s", state.vault, note_id, error)
                continue
            found[note_id] = note
            if len(note.vectors) == len(note.documents):
                self._notes.put((state.edition, note_id), _KeptNote(note, len(data)))
        return found

    def _load(self, state: VaultState) -> Snapshot | None:
        data = self._calls.run("statistics", partial(self._vaults.blob, state.statistics))
        if data is None:
            return None
        try:
            statistics = VaultStatistics.from_bytes(data)
        except ValueError as error:
            log.warning("%s: %s", state.vault, error)
            return None
        return self._empty.put(state.statistics, snapshot_of_notes([], statistics, _dimension(state)))


def _dimension(state: VaultState) -> int:
    return EmbeddingModel.of_key(state.model).dimension
