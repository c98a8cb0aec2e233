"""The index of a vault as a LlamaIndex retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Protocol

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import MetadataFilters

from vault_indexer.contract.requests import Expand
from vault_indexer.llamaindex.filters import narrow_query
from vault_indexer.llamaindex.node_parser import UNSHOWN_KEYS
from vault_indexer.model import Hit, SearchAnswer, SearchRequest, Verdict, doc_id_of


class Searchable(Protocol):
    """The result of `open_vault`, or a VaultService."""

    def search(self, query: SearchRequest, /) -> SearchAnswer: ...


class VaultRetriever(BaseRetriever):
    """Hits as nodes: the text is the chunk's content, and the score is the hit's relevance, in [0, 1], which
    can be compared between queries. The nodes are in the order of the ranking.

    `limit` counts notes, `similarity_top_k` nodes; 0 means the configured number of notes. `by_note`: one hit
    per note. `filters` restricts the nodes by `path`, `tags`, `language`, `modified_time` or any property of
    the notes. With `expand`, the text around a hit is a separate node after it, its PARENT, with the same
    score, and is not counted; several children of one parent share it. The metadata contains `relevance`, the
    `verdict` of the answer, and the paths of identical notes as `copies`.

    Raises the errors of the search, and UsageError for a filter that the query language cannot express.
    """

    def __init__(  # noqa: PLR0913 - the options of a search
        self,
        vault: Searchable,
        limit: int = 0,
        *,
        similarity_top_k: int = 0,
        filters: MetadataFilters | None = None,
        by_note: bool = False,
        expand: Expand = "",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._vault = vault
        self._limit = limit
        self.similarity_top_k = similarity_top_k
        self._filters = filters
        self._by_note = by_note
        self._expand: Expand = expand

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        request = SearchRequest(
            narrow_query(query_bundle.query_str, self._filters),
            limit=self._limit or self.similarity_top_k,
            by_note=self._by_note,
            expand=self._expand,
        )
        answer = self._vault.search(request)
        hits = [hit for hit in answer.results if hit.kind in ("note", "canvas")]
        hits = hits[: self.similarity_top_k or None]
        return [node for hit in hits for node in _nodes(hit, answer.verdict)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _nodes(hit: Hit, verdict: Verdict) -> Iterator[NodeWithScore]:
    """The node of a hit, followed by that of the text around it, unless an earlier hit had the same."""
    node, passage = _node(hit, verdict), hit.passage
    if passage is None:
        yield node
        return
    whole = TextNode(
        id_=passage.id or f"{hit.path}@{passage.start_pos}-{passage.end_pos}",
        text=passage.text,
        start_char_idx=passage.start_pos,
        end_char_idx=passage.end_pos,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id_of(hit.path))},
        metadata={
            "doc_id": doc_id_of(hit.path),
            "kind": passage.kind,
            "path": hit.path,
            "title": hit.title,
            "start_char": passage.start_pos,
            "end_char": passage.end_pos,
            "start_line": passage.start_line,
            "end_line": passage.end_line,
            "copies": list(hit.copies),
            "relevance": hit.relevance,
            "verdict": verdict,
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS],
    )
    node.node.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=whole.node_id)
    yield node
    if passage.text:
        yield NodeWithScore(node=whole, score=hit.relevance)


def _node(hit: Hit, verdict: Verdict) -> NodeWithScore:
    extra = hit.chunk.extra if hit.chunk else {}
    preamble = {"preamble": hit.chunk.preamble} if hit.chunk and hit.chunk.preamble else {}
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        start_char_idx=hit.start_pos,
        end_char_idx=hit.end_pos,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.doc_id)},
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
            "relevance": hit.relevance,
            "verdict": verdict,
        },
        excluded_embed_metadata_keys=[*UNSHOWN_KEYS, *extra],
        excluded_llm_metadata_keys=[*UNSHOWN_KEYS, *extra],
    )
    return NodeWithScore(node=node, score=hit.relevance)
