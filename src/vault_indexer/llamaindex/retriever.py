"""The index of a vault as a LlamaIndex retriever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from vault_indexer.contract.requests import Expand
from vault_indexer.llamaindex.node_parser import UNSHOWN_KEYS
from vault_indexer.model import Hit, SearchAnswer, SearchRequest, doc_id_of


class Searchable(Protocol):
    """The result of `open_vault`, or a VaultService."""

    def search(self, query: SearchRequest, /) -> SearchAnswer: ...


class VaultRetriever(BaseRetriever):
    """Hits as nodes: their text is the chunk's content, and their score is in [0, 1], with 1 for the best.

    `limit` counts notes; 0 means the configured number. `by_note`: one hit per note. With `expand`, the text
    around a hit is a separate node after it, its PARENT, with the same score; several children of one parent
    share it. Raises the errors of the search.
    """

    def __init__(
        self,
        vault: Searchable,
        limit: int = 0,
        *,
        by_note: bool = False,
        expand: Expand = "",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._vault = vault
        self._limit = limit
        self._by_note = by_note
        self._expand: Expand = expand

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = SearchRequest(
            query_bundle.query_str, limit=self._limit, by_note=self._by_note, expand=self._expand
        )
        found = [hit for hit in self._vault.search(request).results if hit.kind in ("note", "canvas")]
        return [node for hit in found for node in _nodes(hit)]


def _nodes(hit: Hit) -> Iterator[NodeWithScore]:
    """The node of a hit, followed by that of the text around it, unless an earlier hit had the same."""
    node, passage = _node(hit), hit.passage
    if passage is None:
        yield node
        return
    whole = TextNode(
        id_=passage.id or f"{hit.path}@{passage.start_pos}-{passage.end_pos}",
        text=passage.text,
        start_char_idx=passage.start_pos,
        end_char_idx=passage.end_pos,
        metadata={
            "doc_id": doc_id_of(hit.path),
            "kind": passage.kind,
            "path": hit.path,
            "title": hit.title,
            "start_char": passage.start_pos,
            "end_char": passage.end_pos,
            "start_line": passage.start_line,
            "end_line": passage.end_line,
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS],
    )
    node.node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=whole.node_id)
    yield node
    if passage.text:
        yield NodeWithScore(node=whole, score=hit.score)


def _node(hit: Hit) -> NodeWithScore:
    extra = hit.chunk.extra if hit.chunk else {}
    preamble = {"preamble": hit.chunk.preamble} if hit.chunk and hit.chunk.preamble else {}
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        start_char_idx=hit.start_pos,
        end_char_idx=hit.end_pos,
        metadata={
            **extra,
            **preamble,
            "doc_id": hit.doc_id,
            "chunk_index": hit.chunk_index,
            "strategy": hit.strategy,
            "wikilinks": list(hit.wikilinks),
            "markdown_links": list(hit.markdown_links),
            "aliases": list(hit.aliases),
            "frontmatter": dict(hit.frontmatter),
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
            "copies": list(hit.copies),
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS, *extra],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS, *extra],
    )
    return NodeWithScore(node=node, score=hit.score)
