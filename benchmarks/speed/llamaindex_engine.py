"""LlamaIndex as its documentation puts a hybrid search together: BM25 retriever, FAISS, fusion retriever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from speed.material import CANDIDATES, HITS, Material, Opened, texts, vectors
from speed.questions import Question
from vault_indexer.ports import Embedder

if TYPE_CHECKING:
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import BaseNode


@contextmanager
def llamaindex_hybrid(material: Material) -> Iterator[Opened]:
    """Everything in memory, in one process; one query (no LLM writes variants of it), reciprocal rerank."""
    import faiss
    from llama_index.core import VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
    from llama_index.core.schema import TextNode
    from llama_index.core.storage import StorageContext
    from llama_index.retrievers.bm25 import BM25Retriever
    from llama_index.vector_stores.faiss import FaissVectorStore

    embedder = material.embedder()
    with material.catalog() as catalog:
        keys, matrix = vectors(catalog, embedder.model.key)
        rows = dict(zip(keys, matrix, strict=True))
        # Its BM25 sees what ours sees; the chunks without a vector (no known token) are in neither.
        nodes: list[BaseNode] = [
            TextNode(
                id_=str(text.key),
                text="\n".join((text.title, text.headers, text.content)),
                embedding=rows[text.key].tolist(),
            )
            for text in texts(catalog)
            if text.key in rows
        ]
    storage = StorageContext.from_defaults(
        vector_store=FaissVectorStore(faiss_index=faiss.IndexFlatIP(matrix.shape[1]))
    )
    index = VectorStoreIndex(nodes, storage_context=storage, embed_model=_embedding(embedder))
    for node in nodes:
        node.embedding = None
    retriever = QueryFusionRetriever(
        [
            index.as_retriever(similarity_top_k=CANDIDATES),
            BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=CANDIDATES),
        ],
        llm=MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=HITS,
        num_queries=1,
        use_async=False,
    )

    def answer(question: Question) -> list[int]:
        return [int(found.node.node_id) for found in retriever.retrieve(question.text)]

    yield Opened(answer)


def _embedding(embedder: Embedder) -> BaseEmbedding:
    """Our model as LlamaIndex wants one."""
    from llama_index.core.embeddings import BaseEmbedding

    class Ours(BaseEmbedding):
        """Queries only: all texts come with their vectors."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(value) for value in embedder.embed_query(query)]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_query_embedding(text)

    return Ours(model_name="ours")
