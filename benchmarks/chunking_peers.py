"""The splitters of other libraries, as functions of a note and a size in characters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from vault_indexer.model import Note
from vault_indexer.ports import Embedder

Piece = tuple[int, int, str]
Cut = Callable[[Note, int], list[Piece]]

CHARACTERS_PER_TOKEN = 4


def located(text: str, pieces: Iterable[str]) -> list[Piece]:
    """Where pieces that a library gives as bare text stand; it may have rewritten white space."""
    found: list[Piece] = []
    position = 0
    for piece in pieces:
        start = text.find(piece, position)
        if start < 0:
            start, end = _loosely(text, piece, position)
        else:
            end = start + len(piece)
        if start < 0:
            raise ValueError(f"cannot find what the splitter gave: {piece[:60]!r}")
        found.append((start, end, piece))
        position = start + 1
    return found


def _loosely(text: str, piece: str, position: int) -> tuple[int, int]:
    """Found when white space is not looked at."""
    wanted = [char for char in piece if not char.isspace()]
    where = [(i, char) for i, char in enumerate(text[position:], position) if not char.isspace()]
    bare = "".join(char for _, char in where)
    at = bare.find("".join(wanted))
    return (-1, -1) if at < 0 else (where[at][0], where[at + len(wanted) - 1][0] + 1)


def sentence_splitter(_embedder: Embedder) -> Cut:
    from llama_index.core.node_parser import SentenceSplitter

    def cut(note: Note, size: int) -> list[Piece]:
        splitter = SentenceSplitter(chunk_size=max(size // CHARACTERS_PER_TOKEN, 8), chunk_overlap=0)
        return located(note.text, splitter.split_text(note.text))

    return cut


def token_splitter(_embedder: Embedder) -> Cut:
    from llama_index.core.node_parser import TokenTextSplitter

    def cut(note: Note, size: int) -> list[Piece]:
        splitter = TokenTextSplitter(chunk_size=max(size // CHARACTERS_PER_TOKEN, 8), chunk_overlap=0)
        return located(note.text, splitter.split_text(note.text))

    return cut


def markdown_parser(_embedder: Embedder) -> Cut:
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    def cut(note: Note, _size: int) -> list[Piece]:
        nodes = MarkdownNodeParser().get_nodes_from_documents([Document(text=note.text)])
        return located(note.text, [node.get_content() for node in nodes])

    return cut


def semantic_splitter(embedder: Embedder) -> Cut:
    """Its size is set by the percentile at which it breaks."""
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    class Ours(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embeddings([query])[0]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = embedder.embed(texts).tolist()
            return vectors

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    def cut(note: Note, size: int) -> list[Piece]:
        # A sentence has about 120 characters: so many of them to a chunk.
        percentile = max(0, round(100 * (1 - 120 / max(size, 1))))
        splitter = SemanticSplitterNodeParser(
            embed_model=Ours(), breakpoint_percentile_threshold=percentile, buffer_size=1
        )
        nodes = splitter.get_nodes_from_documents([Document(text=note.text)])
        return located(note.text, [node.get_content() for node in nodes])

    return cut


def recursive_splitter(_embedder: Embedder) -> Cut:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    def cut(note: Note, size: int) -> list[Piece]:
        splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0)
        return located(note.text, splitter.split_text(note.text))

    return cut


PEERS: Mapping[str, Callable[[Embedder], Cut]] = {
    "LlamaIndex SentenceSplitter": sentence_splitter,
    "LlamaIndex TokenTextSplitter": token_splitter,
    "LlamaIndex MarkdownNodeParser": markdown_parser,
    "LlamaIndex SemanticSplitter": semantic_splitter,
    "LangChain RecursiveCharacterTextSplitter": recursive_splitter,
}
