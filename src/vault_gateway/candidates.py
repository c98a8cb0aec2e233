"""Fetches the notes that may answer a query from the server and builds searchable snapshots of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Literal, cast, get_args

from vault_gateway.calls import MilvusCalls, SingleFlight
from vault_gateway.milvus import CollectionMissingError, MilvusVaults, VaultState
from vault_gateway.published_note import ReceivedNote, unpack_note
from vault_indexer.arrays import Vectors
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.ports import Embedder, EmbeddingModel
from vault_indexer.providers import TokenWeights, embedder_for
from vault_indexer.store import Snapshot, VaultStatistics
from vault_indexer.store.catalog import catalog_of
from vault_indexer.store.graph import LinkGraph
from vault_indexer.store.keywords import Lexicon, snapshot_of_documents
from vault_indexer.store.vectors import build_snapshot
from vault_indexer.system import LruCache, record

log = logging.getLogger("vault_indexer.gateway")

_NOTE_BYTES = 32 << 20
"""The limit for cached notes, by their size on the server. In searchable form they take about five times as
much."""

_VAULTS = 64
"""The maximum number of vaults with cached statistics: about 2 MB per vault for 60,000 words."""

NoteKey = tuple[str, int]
"""The edition of a vault, and the note's id."""


@record
class FoundNotes:
    """Searchable notes of one vault. `have_text` means that all of them came with their text."""

    snapshot: Snapshot
    have_text: bool


@record
class _KeptNote:
    note: ReceivedNote
    size: int


def snapshot_of_notes(notes: Sequence[ReceivedNote], statistics: VaultStatistics, dimension: int) -> Snapshot:
    """A snapshot in memory of only these notes: a search of it is one of the whole vault, limited to them.

    It contains catalog, words, vectors and links of the notes, as one state. The rarity of words, and the
    chance level of vectors, come from the `statistics` of their vault. The caller closes its catalog.
    """
    # The indices require ascending keys.
    ordered = sorted(notes, key=lambda one: one.stored.note_id)
    catalog = catalog_of(one.stored for one in ordered)
    words = [document for one in ordered for document in one.documents]
    rows = [vector for one in ordered for vector in one.vectors]
    vectors = build_snapshot(catalog.seq, dimension, rows)
    return Snapshot(
        generation=0,
        catalog=catalog,
        graph=LinkGraph(catalog),
        vectors=replace(vectors, background=statistics.background),
        keywords=snapshot_of_documents(words, catalog.seq, Lexicon([statistics.vocabulary])),
        languages=statistics.languages.in_order,
        statistics=statistics,
    )


class CandidateNotes:
    """Fetches and caches notes and statistics: a note of an edition never changes once it has all its
    vectors. Callers must have checked that the user may read the vaults. Any thread may use it. Raises
    BackendError."""

    def __init__(self, vaults: MilvusVaults, calls: MilvusCalls) -> None:
        self._vaults = vaults
        self._calls = calls
        self._notes: LruCache[NoteKey, _KeptNote] = LruCache(_NOTE_BYTES, lambda kept: kept.size)
        self._empty: LruCache[str, Snapshot] = LruCache(_VAULTS)
        self._loading: SingleFlight[str, Snapshot | None] = SingleFlight()

    def empty(self, state: VaultState) -> Snapshot | None:
        """A snapshot of the vault without notes, for results that depend only on its statistics. None while
        it is being published."""
        kept = self._empty.peek(state.statistics)
        return kept or self._loading.get(state.statistics, partial(self._load, state))

    @contextmanager
    def snapshots(
        self, states: Mapping[str, VaultState], wanted: Mapping[str, Iterable[int]]
    ) -> Iterator[dict[str, FoundNotes]]:
        """For each vault, a snapshot of the notes with these ids, for the duration of the block. Missing and
        unreadable notes are omitted, and so are vaults without statistics or without the table of notes."""
        with ExitStack() as cleanup:
            made: dict[str, FoundNotes] = {}
            for vault, ids in wanted.items():
                state = states[vault]
                try:
                    own, empty = self._notes_of(state, list(ids)), self.empty(state)
                except CollectionMissingError:
                    continue
                if empty is not None and empty.statistics is not None:
                    snapshot = snapshot_of_notes(own, empty.statistics, _dimension(state))
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


# The embedding models of the published vaults: the vector of a query must come from the same model.


_LocalProvider = Literal["wordllama", "multilingual", "e5", "minilm"]
"""Providers that need neither a network nor a setting: the queries of users stay in this process."""

MAX_MODELS = 8
"""The maximum number of models in memory: the table of a static model with token weights takes 33 MB."""


class QueryModels:
    """Embeds queries with the models of the vaults. A model is loaded when a query first needs it, and the
    least recently used one is evicted. Any thread may use it; only requests for a model that is being loaded
    wait."""

    def __init__(self, vaults: MilvusVaults, calls: MilvusCalls) -> None:
        self._vaults = vaults
        self._calls = calls
        self._loading: SingleFlight[tuple[str, str], Embedder] = SingleFlight()
        self._loaded: LruCache[tuple[str, str], Embedder] = LruCache(MAX_MODELS)

    def embedder(self, model: str, weights: str) -> Embedder:
        """The embedder for queries, by the key of a model and the digest of its token weights ("" for none).
        If this gateway lacks the model, each embedding raises ProviderError. Raises BackendError."""
        key = model, weights
        try:
            return self._loaded.get(key, lambda: self._loading.get(key, partial(self._load, model, weights)))
        except ProviderError as error:
            return _MissingModel(EmbeddingModel.of_key(model), str(error))

    def _load(self, model: str, weights: str) -> Embedder:
        provider = EmbeddingModel.of_key(model).provider
        if provider not in get_args(_LocalProvider):
            raise ProviderError(f"a gateway does not support models of the provider {provider}")
        fitted = self._weights(weights) if weights else None
        settings = EmbeddingSettings(
            provider=cast("_LocalProvider", provider), token_weights="idf" if fitted else "none"
        )
        embedder = embedder_for(settings, weights=fitted)
        if embedder.model.key != model:
            raise ProviderError(f"the model {model} is not installed here; {embedder.model.key} is")
        return embedder

    def _weights(self, digest: str) -> TokenWeights:
        found = self._calls.run("weights", partial(self._vaults.blob, digest))
        if found is None:
            raise ProviderError("the word weights of the vault are not on the search server")
        return TokenWeights.from_bytes(found)


@record
class _MissingModel:
    """An embedder for a model that is not available: only words are searched."""

    model: EmbeddingModel
    reason: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ProviderError(f"{len(texts)} texts: {self.reason}")

    def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - as the port has it
        raise ProviderError(self.reason)
