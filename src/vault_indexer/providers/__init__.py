"""Adapters to embedding and language models. Heavy libraries are imported on first use."""

from vault_indexer.providers.auto import (
    AUTO_PROVIDERS,
    IndexedTexts,
    better_model,
    better_model_advice,
    choose_provider,
)
from vault_indexer.providers.choose import (
    UNKNOWN_DIMENSION,
    embedder_for,
    is_same_model,
    languages_of,
    model_for,
)
from vault_indexer.providers.lazy import LazyEmbedder
from vault_indexer.providers.llamaindex import LlamaIndexEmbedder
from vault_indexer.providers.llm import LlamaIndexLlm, llm_for
from vault_indexer.providers.token_weights import TokenCounts, TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder
from vault_indexer.providers.wordllama_tokens import WordLlamaTokenizer
from vault_indexer.providers.wordllama_words import WORD_LANGUAGES, WORD_VECTORS, word_vectors

__all__ = [
    "AUTO_PROVIDERS",
    "UNKNOWN_DIMENSION",
    "WORD_LANGUAGES",
    "WORD_VECTORS",
    "IndexedTexts",
    "LazyEmbedder",
    "LlamaIndexEmbedder",
    "LlamaIndexLlm",
    "TokenCounts",
    "TokenWeights",
    "WordLlamaEmbedder",
    "WordLlamaTokenizer",
    "better_model",
    "better_model_advice",
    "choose_provider",
    "embedder_for",
    "is_same_model",
    "languages_of",
    "llm_for",
    "model_for",
    "word_vectors",
]
