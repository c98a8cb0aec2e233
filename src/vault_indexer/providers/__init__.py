"""Adapters to embedding and language models. Heavy libraries are imported on first use."""

from vault_indexer.providers.choose import UNKNOWN_DIMENSION, embedder_for, is_same_model, model_for
from vault_indexer.providers.lazy import LazyEmbedder
from vault_indexer.providers.llamaindex import LlamaIndexEmbedder
from vault_indexer.providers.llm import LlamaIndexLlm, llm_for
from vault_indexer.providers.token_weights import TokenCounts, TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder
from vault_indexer.providers.wordllama_tokens import WordLlamaTokenizer

__all__ = [
    "UNKNOWN_DIMENSION",
    "LazyEmbedder",
    "LlamaIndexEmbedder",
    "LlamaIndexLlm",
    "TokenCounts",
    "TokenWeights",
    "WordLlamaEmbedder",
    "WordLlamaTokenizer",
    "embedder_for",
    "is_same_model",
    "llm_for",
    "model_for",
]
