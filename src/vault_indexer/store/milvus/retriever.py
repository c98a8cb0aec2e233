"""Searches the chunks of a scope on the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from vault_indexer.store.milvus.expressions import all_of, selection_parts, text_in
from vault_indexer.store.milvus.schema import FOUND_FIELDS
from vault_indexer.store.milvus.vaults import MilvusVaults
from vault_indexer.store.milvus.words import query_text
from vault_indexer.store.retrieval import (
    FoundChunk,
    Fusion,
    Selection,
    VaultScope,
    in_order,
    limit_per_note,
)
from vault_indexer.text.terms import QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_DENSE = {"metric_type": "IP", "params": {}}
_SPARSE = {"metric_type": "BM25", "params": {}}
_WITH_VECTOR = "has_vector == true"


class MilvusRetriever:
    """Implements ChunkRetriever for the vaults in one collection: those whose vectors come from one model.

    A question reads the states of its vaults first, and then only the rows of their active editions; vaults
    of the scope that are published elsewhere, or not at all, are left out. The expression that limits a
    question to its scope is made in `_filter`, which every question goes through. Any thread may ask.
    """

    def __init__(self, vaults: MilvusVaults, collection: str) -> None:
        self.collection = collection
        self._vaults = vaults
        self._connection = vaults.connection

    def nearest(self, scope: VaultScope, vector: Vector, selection: Selection) -> list[FoundChunk]:
        """The chunks of highest cosine with the vector."""
        if not vector.any():
            return []
        expression = self._filter(scope, selection)
        return self._limited(partial(self._search, "vector", vector.tolist(), _DENSE), expression, selection)

    def best(self, scope: VaultScope, terms: Sequence[QueryTerm], selection: Selection) -> list[FoundChunk]:
        """The best chunks by the server's BM25."""
        text = query_text(terms)
        if not text:
            return []
        expression = self._filter(scope, selection)
        return self._limited(partial(self._search, "words", text, _SPARSE), expression, selection)

    def hybrid(
        self,
        scope: VaultScope,
        vector: Vector,
        terms: Sequence[QueryTerm],
        selection: Selection,
        fusion: Fusion,
    ) -> list[FoundChunk]:
        """Both rankings, joined by the server."""
        text = query_text(terms)
        if not text:
            return self.nearest(scope, vector, selection)
        if not vector.any():
            return self.best(scope, terms, selection)
        expression = self._filter(scope, selection)
        if not expression:
            return []
        found = self._fused(expression, vector.tolist(), text, selection.depth, fusion)
        return limit_per_note(lambda reach: found[:reach], selection)

    def _filter(self, scope: VaultScope, selection: Selection) -> str:
        """The expression for the active rows of the scope's vaults that the selection leaves; "" where there
        are none. The one place where access by vault is decided."""
        states = self._vaults.states(scope)
        here = {vault: state for vault, state in states.items() if state.collection == self.collection}
        allowed = [vault for vault in scope.vaults if vault in here]
        if not allowed:
            return ""
        active = text_in("edition", (here[vault].edition for vault in allowed))
        return all_of([text_in("vault", allowed), active, *selection_parts(selection)])

    def _limited(
        self, search: Callable[[str, int], list[FoundChunk]], expression: str, selection: Selection
    ) -> list[FoundChunk]:
        return limit_per_note(partial(search, expression), selection) if expression else []

    def _search(
        self, field: str, query: Any, parameters: Mapping[str, Any], expression: str, limit: int
    ) -> list[FoundChunk]:
        expression = all_of([expression, _WITH_VECTOR]) if field == "vector" else expression
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
        return in_order(map(_by_bm25, _found(answer)) if field == "words" else _found(answer))

    def _fused(
        self, expression: str, vector: list[float], text: str, depth: int, fusion: Fusion
    ) -> list[FoundChunk]:
        from pymilvus import AnnSearchRequest, RRFRanker, WeightedRanker

        dense = AnnSearchRequest(
            data=[vector],
            anns_field="vector",
            param=dict(_DENSE),
            limit=depth,
            expr=all_of([expression, _WITH_VECTOR]),
        )
        sparse = AnnSearchRequest(
            data=[text], anns_field="words", param=dict(_SPARSE), limit=depth, expr=expression
        )
        ranker = (
            RRFRanker(fusion.rank_constant)
            if fusion.kind == "rrf"
            else WeightedRanker(fusion.vector_weight, fusion.keyword_weight)
        )
        answer = self._connection.read(
            "hybrid_search",
            self.collection,
            reqs=[dense, sparse],
            ranker=ranker,
            limit=2 * depth,
            output_fields=list(FOUND_FIELDS),
        )
        return in_order(_found(answer))


def _found(answer: Sequence[Iterable[Mapping[str, Any]]]) -> list[FoundChunk]:
    """The hits of the one query."""
    hits = list(answer[0]) if answer else []
    return [_chunk(hit["entity"], hit["distance"]) for hit in hits]


def _by_bm25(found: FoundChunk) -> FoundChunk:
    """Milvus gives a BM25 score, which is never negative; Milvus Lite gives its negative as a distance."""
    return replace(found, score=abs(found.score))


def _chunk(entity: Mapping[str, Any], distance: float) -> FoundChunk:
    values = {field: entity[field] for field in FOUND_FIELDS}
    return FoundChunk(**values | {"score": float(distance), "body": values["body"] or None})
