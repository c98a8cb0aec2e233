"""Every chunking strategy as a LlamaIndex node parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated

from llama_index.core.node_parser import NodeParser
from llama_index.core.node_parser.node_utils import default_id_func
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.utils import get_tqdm_iterable
from pydantic import Field, PrivateAttr, SkipValidation, ValidationError, model_validator

from vault_indexer.chunk import STRATEGIES, chunker_for, tokenizer_from
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.config.values import first_mistake
from vault_indexer.errors import UsageError
from vault_indexer.index.reading import parse_file
from vault_indexer.model import Chunk
from vault_indexer.ports import Chunker, Embedder, Llm, Tokenizer
from vault_indexer.providers import LazyEmbedder, WordLlamaTokenizer, embedder_for

UNSHOWN_KEYS = (
    *("start_char", "end_char", "start_line", "end_line", "chunk_index", "strategy", "overlap", "context"),
    *("embed", "modified_time", "stale", "doc_id", "wikilinks", "markdown_links", "aliases", "frontmatter"),
    *("copies", "relevance", "verdict"),
)
"""Numbers and flags that would only be noise for a model that embeds or reads a node."""


class VaultNodeParser(NodeParser):
    """Converts Markdown documents to nodes, each a span of its document, `text[start_char_idx:end_char_idx]`.

    `options` are those of the strategy, as in `[chunking]` of the configuration: `VaultNodeParser(
    strategy="token", options={"max_tokens": 200})`. A document may name its vault path in `metadata["path"]`;
    the ids of its nodes then equal those of the index. The metadata contains overlap, context, preamble,
    `header_path` and the `extra` of the strategy. Siblings are linked as previous and next, children with
    their parent. `embedder` and `tokenizer` default to wordllama's; `tokenizer` may also be an encoding of
    tiktoken, a tokenizer of tokenizers, or a function that counts the tokens of a text. `llm` is required by
    `llm`, `agentic` and `contextual`. Raises UsageError for unknown arguments and options, and NoteError for
    a document that is not text."""

    strategy: str = Field(default="header_based", description="one of the chunking strategies")
    options: dict[str, object] = Field(default_factory=dict, description="options of the strategy")
    embedder: Annotated[Embedder | None, SkipValidation] = Field(default=None, exclude=True)
    tokenizer: Annotated[Tokenizer | Callable[[str], object] | None, SkipValidation] = Field(
        default=None, exclude=True
    )
    llm: Annotated[Llm | None, SkipValidation] = Field(default=None, exclude=True)
    llm_cache: Path | None = Field(default=None, description="folder for the model's answers")
    _chunker: Chunker = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, arguments: Mapping[str, object]) -> Mapping[str, object]:
        # Pydantic ignores unknown arguments by default, and LlamaIndex's base class relies on that.
        unknown = sorted(set(arguments) - set(cls.model_fields) - {"class_name"})
        if unknown:
            raise UsageError(
                f"VaultNodeParser: unknown argument {unknown[0]}; allowed are {', '.join(cls.model_fields)}"
            )
        return arguments

    def model_post_init(self, context: object, /) -> None:
        """Builds the chunker, so that mistakes are reported immediately."""
        super().model_post_init(context)
        if self.strategy not in STRATEGIES:
            raise UsageError(f"unknown strategy {self.strategy!r}: choose one of {', '.join(STRATEGIES)}")
        try:
            settings = ChunkingSettings.model_validate({"strategy": self.strategy, **self.options})
        except ValidationError as error:
            mistake = first_mistake(ChunkingSettings, error)
            raise UsageError(f"options of {self.strategy}: {mistake}") from error
        self._chunker = chunker_for(
            settings,
            embedder=self.embedder or LazyEmbedder(partial(embedder_for, EmbeddingSettings())),
            tokenizer=tokenizer_from(self.tokenizer) if self.tokenizer else WordLlamaTokenizer(),
            llm=self.llm,
            llm_cache=self.llm_cache,
        )

    @classmethod
    def class_name(cls) -> str:
        return "VaultNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: object
    ) -> list[BaseNode]:
        made: list[BaseNode] = []
        for document in get_tqdm_iterable(nodes, show_progress, "Parsing nodes"):
            made.extend(self._nodes(document))
        return made

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        """Adds no positions or siblings: they are already set, and the base class would compute them by
        comparing texts."""
        for node in nodes:
            document = parent_doc_map.get(node.ref_doc_id or "")
            if document is not None and document.source_node is not None:
                node.relationships[NodeRelationship.SOURCE] = document.source_node
        return nodes

    def _nodes(self, document: BaseNode) -> list[TextNode]:
        text = document.get_content(metadata_mode=MetadataMode.NONE)
        path, data = _path(document), text.encode("utf-8", "replace")
        note = parse_file(path, data)
        shift = len(text) - len(note.text) if text.startswith("\ufeff") else 0
        links = note.written_links
        chunks = [chunk.with_links(links) for chunk in self._chunker.chunk(note)]
        source = document.as_related_node_info()  # hashes the whole text
        nodes = [self._node(document, chunk, number, shift) for number, chunk in enumerate(chunks)]
        for node in nodes:
            node.relationships[NodeRelationship.SOURCE] = source
        if self.include_prev_next_rel:
            _link_siblings(nodes, chunks)
        _link_parents(nodes, chunks)
        return nodes

    def _node(self, document: BaseNode, chunk: Chunk, number: int, shift: int) -> TextNode:
        start, end = chunk.start_pos + shift, chunk.end_pos + shift
        own = _metadata(chunk, document.metadata, (start, end))
        hidden = [*UNSHOWN_KEYS, *chunk.extra]
        named = self.id_func is default_id_func
        return TextNode(
            id_=chunk.chunk_id if named else self.id_func(number, document),
            text=chunk.body,
            start_char_idx=start,
            end_char_idx=end,
            metadata={**(document.metadata if self.include_metadata else {}), **own},
            excluded_embed_metadata_keys=[*document.excluded_embed_metadata_keys, *hidden, "path"],
            excluded_llm_metadata_keys=[*document.excluded_llm_metadata_keys, *hidden],
        )


def _path(document: BaseNode) -> str:
    """The document's vault path if it names one; otherwise a generated one with the extension of its file."""
    path = document.metadata.get("path")
    if isinstance(path, str) and path:
        return path
    file = document.metadata.get("file_path") or document.metadata.get("file_name")
    ending = PurePosixPath(file).suffix if isinstance(file, str) else ""
    return document.node_id + (ending or ".md")


def _metadata(chunk: Chunk, given: Mapping[str, object], span: tuple[int, int]) -> dict[str, object]:
    path = given.get("path") or given.get("file_path") or ""
    start, end = span
    always: dict[str, object] = {
        "path": path,
        "header_path": chunk.header_path,
        "start_char": start,
        "end_char": end,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "chunk_index": chunk.chunk_index,
        "strategy": chunk.strategy,
        "doc_id": chunk.doc_id,
        "wikilinks": list(chunk.wikilinks),
        "markdown_links": list(chunk.markdown_links),
    }
    around = {"preamble": chunk.preamble, "context": chunk.context, "overlap": chunk.overlap}
    present = {key: text for key, text in around.items() if text}
    return {**chunk.extra, **always, **present, **({} if chunk.embed else {"embed": False})}


def _link_siblings(nodes: Sequence[TextNode], chunks: Sequence[Chunk]) -> None:
    before: dict[object, TextNode] = {}
    for node, chunk in zip(nodes, chunks, strict=True):
        level = chunk.extra.get("level", 0)
        last = before.get(level)
        if last is not None:
            last.relationships[NodeRelationship.NEXT] = node.as_related_node_info()
            node.relationships[NodeRelationship.PREVIOUS] = last.as_related_node_info()
        before[level] = node


def _link_parents(nodes: Sequence[TextNode], chunks: Sequence[Chunk]) -> None:
    by_chunk = {chunk.chunk_id: node for node, chunk in zip(nodes, chunks, strict=True)}
    children: dict[str, list[RelatedNodeInfo]] = {}
    for node, chunk in zip(nodes, chunks, strict=True):
        parent = by_chunk.get(str(chunk.extra.get("parent_id", "")))
        if parent is not None:
            node.relationships[NodeRelationship.PARENT] = parent.as_related_node_info()
            children.setdefault(parent.node_id, []).append(node.as_related_node_info())
    for node in nodes:
        if node.node_id in children:
            node.relationships[NodeRelationship.CHILD] = children[node.node_id]
