"""The reference for the retrieval ports: one vault, searched in a snapshot of its own index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_gateway.milvus.retrieval import FoundChunk, Selection, VaultScope, in_order
from vault_indexer.model import kind_of, note_id_of
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.store.keywords import FieldWeights
from vault_indexer.store.snapshot import Snapshot, SnapshotHolder
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Keys = NDArray[np.int64]

Scores = Mapping[int, float]
Search = Callable[[Snapshot, int, "Keys | None"], Scores]


class EmbeddedRetriever:
    """Implements ChunkRetriever over the current snapshot of one vault, whose id is `vault`. A scope without
    it finds nothing."""

    def __init__(self, vault: str, holder: SnapshotHolder, weights: FieldWeights | None = None) -> None:
        self._vault = vault
        self._holder = holder
        self._weights = weights or FieldWeights()

    def nearest(self, scope: VaultScope, vector: Vector, selection: Selection) -> list[FoundChunk]:
        """The chunks of highest cosine with the vector."""
        return self._ranked(scope, selection, _by_meaning(vector)) if vector.any() else []

    def best(self, scope: VaultScope, terms: Sequence[QueryTerm], selection: Selection) -> list[FoundChunk]:
        """The best chunks by BM25F."""
        return self._ranked(scope, selection, self._by_word(terms))

    def _by_word(self, terms: Sequence[QueryTerm]) -> Search:
        def search(snapshot: Snapshot, k: int, allowed: Keys | None) -> Scores:
            ranking = snapshot.keywords.search(terms, self._weights, k, allowed)
            return dict(zip(ranking.keys.tolist(), ranking.scores.tolist(), strict=True))

        return search

    def _ranked(self, scope: VaultScope, selection: Selection, search: Search) -> list[FoundChunk]:
        if self._vault not in scope.vaults:
            return []
        with self._holder.lease() as snapshot:
            allowed = _allowed(snapshot.catalog, selection)

            scores = search(snapshot, selection.limit, allowed)
            return in_order(_found(self._vault, snapshot.catalog, scores))


def _by_meaning(vector: Vector) -> Search:
    def search(snapshot: Snapshot, k: int, allowed: Keys | None) -> Scores:
        keys, scores = snapshot.vectors.search(vector, k, allowed)
        return dict(zip(keys.tolist(), scores.tolist(), strict=True))

    return search


def _allowed(catalog: CatalogReader, selection: Selection) -> Keys | None:
    """The keys of the chunks that a selection leaves, ascending; None for all."""
    notes: set[int] | None = None
    for part in _note_sets(catalog, selection):
        notes = part if notes is None else notes & part
    if notes is None:
        return None
    rows = catalog.rows_in("SELECT key FROM chunks WHERE note_id IN (%s)", sorted(notes))
    return np.sort(np.fromiter((int(row[0]) for row in rows), np.int64))


def _note_sets(catalog: CatalogReader, selection: Selection) -> Iterator[set[int]]:
    """The notes that each condition leaves."""
    if selection.folders:
        inside = "SELECT note_id FROM notes WHERE path >= ? AND path < ?"  # "0" follows "/"
        yield {
            int(row[0])
            for folder in selection.folders
            for row in catalog.rows(inside, (f"{folder}/", f"{folder}0"))
        }
    if selection.paths:
        rows = catalog.rows_in("SELECT note_id FROM notes WHERE path IN (%s)", selection.paths)
        yield {int(row[0]) for row in rows}
    for tag in selection.folded_tags:
        sql = "SELECT note_id FROM tags WHERE tag = ? OR (tag >= ? AND tag < ?)"
        yield {int(row[0]) for row in catalog.rows(sql, (tag, f"{tag}/", f"{tag}0"))}
    if selection.note_ids:
        yield set(selection.note_ids)
    if selection.kinds:
        rows = iter(catalog.rows("SELECT note_id, path FROM notes"))
        yield {int(note_id) for note_id, path in rows if kind_of(path).value in selection.kinds}


def _found(vault: str, catalog: CatalogReader, scores: Scores) -> Iterator[FoundChunk]:
    notes = catalog.notes({note_id_of(key) for key in scores})
    for key, score in scores.items():
        note_id = note_id_of(key)
        yield FoundChunk(vault, key, note_id, notes[note_id].path, score)
