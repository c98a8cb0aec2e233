"""All that calls a model: embeddings, language models, rerankers."""

from vault_indexer.providers.token_weights import TokenCounts, TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder, wordllama_model
from vault_indexer.providers.wordllama_tokens import WordLlamaTokenizer

__all__ = [
    "TokenCounts",
    "TokenWeights",
    "WordLlamaEmbedder",
    "WordLlamaTokenizer",
    "wordllama_model",
]
