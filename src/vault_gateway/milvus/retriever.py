"""Searches the chunks of a scope on the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        expression = self._filter(scope, selection)
        if not expression or not vector.any():
            return []
        with_vector = all_of([expression, "has_vector == true"])
        return in_order(self._search("vector", vector.tolist(), _DENSE, with_vector, selection.limit))

    def best(self, scope: VaultScope, terms: Sequence[QueryTerm], selection: Selection) -> list[FoundChunk]:
        """The best chunks by BM25 that contain any of the words."""
        expression, text = self._filter(scope, selection), query_text(terms)
        if not expression or not text:
            return []
        found = self._search("words", text, _SPARSE, expression, selection.limit)
        # A BM25 score is never negative; Milvus Lite returns its negative as a distance.
        return in_order(replace(one, score=abs(one.score)) for one in found)

    def both(
        self, scope: VaultScope, vector: Vector, terms: Sequence[QueryTerm], selection: Selection
    ) -> list[FoundChunk]:
        return [*self.nearest(scope, vector, selection), *self.best(scope, terms, selection)]

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

    def _search(
        self, field: str, query: Any, parameters: Mapping[str, Any], expression: str, limit: int
    ) -> Iterator[FoundChunk]:
        answer = self._connection.read(
            "search",
            self.collection,
            data=[query],
            anns_field=field,
            filter=expression,
            limit=limit,
            search_params=dict(parameters),
            output_fields=list(FOUND_FIELDS),
        )
        for hit in answer[0] if answer else ():
            fields = {field: hit["entity"][field] for field in FOUND_FIELDS}
            yield FoundChunk(**fields, score=float(hit["distance"]))
