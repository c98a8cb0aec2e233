"""Searches the chunks of a scope on the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_gateway.milvus.connection import MilvusConnection
from vault_gateway.milvus.retrieval import (
    MAX_LIMIT,
    FoundChunk,
    Selection,
    VaultScope,
    all_of,
    in_order,
    selection_parts,
    text_in,
)
from vault_gateway.milvus.schema import FOUND_FIELDS, query_text
from vault_gateway.milvus.vaults import VaultState
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_DENSE = {"metric_type": "IP", "params": {}}
_SPARSE = {"metric_type": "BM25", "params": {}}
_WITH_VECTOR = "has_vector == true"


class MilvusRetriever:
    """Searches the chunks of vaults in one collection, whose vectors come from the same model. Every answer
    is best first; equal scores are ordered by vault and key. Raises BackendError if the server cannot answer.

    A query reads only the rows of the editions that these states name; vaults of the scope that are published
    elsewhere, or not at all, are omitted. `_filter` builds the expression that limits a query to its scope,
    and every query uses it. Any thread may use the retriever.
    """

    def __init__(self, connection: MilvusConnection, collection: str, states: Iterable[VaultState]) -> None:
        self.collection = collection
        self._connection = connection
        self._editions = {one.vault: one.edition for one in states if one.collection == collection}

    def nearest(self, scope: VaultScope, vector: Vector, selection: Selection) -> list[FoundChunk]:
        """The chunks with the highest cosine to the vector (shape (dimension,), length 1); none for zeros."""
        return self._nearest(self._filter(scope, selection), vector, selection.limit) if vector.any() else []

    def best(self, scope: VaultScope, terms: Sequence[QueryTerm], selection: Selection) -> list[FoundChunk]:
        """The best chunks by BM25 that contain any of the words."""
        return self._best(self._filter(scope, selection), terms, selection.limit)

    def both(
        self, scope: VaultScope, vector: Vector, terms: Sequence[QueryTerm], selection: Selection
    ) -> list[FoundChunk]:
        """The chunks of `nearest` and then those of `best`."""
        expression = self._filter(scope, selection)
        near = self._nearest(expression, vector, selection.limit) if vector.any() else []
        return [*near, *self._best(expression, terms, selection.limit)]

    def notes_at(self, scope: VaultScope, paths: Sequence[str]) -> dict[tuple[str, str], int]:
        expression = self._filter(scope, Selection(paths=tuple(paths))) if paths else ""
        if not expression:
            return {}
        rows = self._connection.read(
            "query",
            self.collection,
            filter=expression,
            limit=MAX_LIMIT,
            output_fields=["vault", "path", "note_id"],
        )
        return {(str(row["vault"]), str(row["path"])): int(row["note_id"]) for row in rows}

    def _filter(self, scope: VaultScope, selection: Selection) -> str:
        """The expression for the rows of the scope's vaults that match the selection; "" if there are none.
        This is the only place that enforces access to vaults."""
        allowed = [vault for vault in scope.vaults if vault in self._editions]
        if not allowed:
            return ""
        active = text_in("edition", map(self._editions.__getitem__, allowed))
        return all_of([text_in("vault", allowed), active, *selection_parts(selection)])

    def _nearest(self, expression: str, vector: Vector, limit: int) -> list[FoundChunk]:
        if not expression:
            return []
        with_vector = all_of([expression, _WITH_VECTOR])
        return in_order(_found(self._search("vector", vector.tolist(), _DENSE, with_vector, limit)))

    def _best(self, expression: str, terms: Sequence[QueryTerm], limit: int) -> list[FoundChunk]:
        text = query_text(terms)
        if not expression or not text:
            return []
        return in_order(map(_by_bm25, _found(self._search("words", text, _SPARSE, expression, limit))))

    def _search(
        self, field: str, query: Any, parameters: Mapping[str, Any], expression: str, limit: int
    ) -> Sequence[Iterable[Mapping[str, Any]]]:
        found: Sequence[Iterable[Mapping[str, Any]]] = self._connection.read(
            "search",
            self.collection,
            data=[query],
            anns_field=field,
            filter=expression,
            limit=limit,
            search_params=dict(parameters),
            output_fields=list(FOUND_FIELDS),
        )
        return found


def _found(answer: Sequence[Iterable[Mapping[str, Any]]]) -> list[FoundChunk]:
    hits = list(answer[0]) if answer else []
    return [_chunk(hit["entity"], hit["distance"]) for hit in hits]


def _by_bm25(found: FoundChunk) -> FoundChunk:
    """Milvus returns a BM25 score, which is never negative; Milvus Lite returns its negative as a
    distance."""
    return replace(found, score=abs(found.score))


def _chunk(entity: Mapping[str, Any], distance: float) -> FoundChunk:
    return FoundChunk(**{field: entity[field] for field in FOUND_FIELDS}, score=float(distance))
