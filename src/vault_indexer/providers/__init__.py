"""Adapters to embedding and language models. Heavy libraries are imported on first use."""

from vault_indexer.providers.choose import (
    AUTO_PROVIDERS,
    IndexedTexts,
    LazyEmbedder,
    better_model,
    better_model_advice,
    choose_provider,
    embedder_for,
    is_same_model,
    languages_of,
    model_for,
)
from vault_indexer.providers.llm import language_model, llm_for
from vault_indexer.providers.token_weights import TokenWeights, WordLlamaTokenizer
from vault_indexer.providers.wordllama import WORD_LANGUAGES, WORD_VECTORS, WordLlamaEmbedder, word_vectors

__all__ = [
    "AUTO_PROVIDERS",
    "WORD_LANGUAGES",
    "WORD_VECTORS",
    "IndexedTexts",
    "LazyEmbedder",
    "TokenWeights",
    "WordLlamaEmbedder",
    "WordLlamaTokenizer",
    "better_model",
    "better_model_advice",
    "choose_provider",
    "embedder_for",
    "is_same_model",
    "language_model",
    "languages_of",
    "llm_for",
    "model_for",
    "word_vectors",
]
