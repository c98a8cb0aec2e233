"""The index of a vault as a LlamaIndex retriever."""

from __future__ import annotations

from typing import Protocol

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from vault_indexer.llamaindex.metadata import UNSHOWN_KEYS
from vault_indexer.model import Hit, SearchAnswer, SearchRequest


class Searchable(Protocol):
    """What `open_vault` gives, or a VaultService."""

    def search(self, query: SearchRequest, /) -> SearchAnswer:
        """Ranked hits."""
        ...


class VaultRetriever(BaseRetriever):
    """Hits as nodes: their text is the chunk's content, their score is in [0, 1], the best is 1.

    `limit` 0 means the configured number, `by_note` one hit a note. Raises the errors of the search.
    """

    def __init__(
        self,
        vault: Searchable,
        limit: int = 0,
        *,
        by_note: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._vault = vault
        self._limit = limit
        self._by_note = by_note

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = SearchRequest(query_bundle.query_str, limit=self._limit, by_note=self._by_note)
        found = self._vault.search(request).results
        return [_node(hit) for hit in found if hit.kind in ("note", "canvas")]  # others have no text


def _node(hit: Hit) -> NodeWithScore:
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        start_char_idx=hit.start_pos,
        end_char_idx=hit.end_pos,
        metadata={
            "path": hit.path,
            "title": hit.title,
            "header_path": hit.header_path,
            "start_char": hit.start_pos,
            "end_char": hit.end_pos,
            "start_line": hit.start_line,
            "end_line": hit.end_line,
            "modified_time": hit.modified_time,
            "tags": list(hit.tags),
            "stale": hit.stale,
        },
        excluded_embed_metadata_keys=list(UNSHOWN_KEYS),
        excluded_llm_metadata_keys=list(UNSHOWN_KEYS),
    )
    return NodeWithScore(node=node, score=hit.score)
