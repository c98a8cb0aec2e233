"""Which embedder a configuration means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.ports import Embedder, EmbeddingModel
from vault_indexer.providers import llamaindex
from vault_indexer.providers.token_weights import TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder, wordllama_model

UNKNOWN_DIMENSION = 0
"""Stands for a dimension that only the loaded model could tell."""

LLAMAINDEX_PROVIDERS: Mapping[str, Callable[[EmbeddingSettings], Embedder]] = MappingProxyType(
    {
        "huggingface": llamaindex.huggingface,
        "minilm": llamaindex.minilm,
        "ollama": llamaindex.ollama,
        "openai": llamaindex.openai,
    }
)
"""All providers but the default, each a row: `embedding.provider` to what makes the embedder."""

_NOT_FITTED = "+sif"


def embedder_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> Embedder:
    """The embedder that the settings name, loaded. Raises ProviderError.

    `weights` belong to the generation that is built or read; they count only for static embeddings with
    `token_weights` on. A remote provider is reached only if the settings name it.
    """
    if settings.provider == "wordllama":
        return WordLlamaEmbedder(weights if settings.token_weights != "none" else None)
    return LLAMAINDEX_PROVIDERS[settings.provider](settings)


def model_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> EmbeddingModel:
    """What `embedder_for` would call its model, without loading anything.

    The dimension is UNKNOWN_DIMENSION where only the loaded model knows it. Where token weights are
    configured but not given, the name ends in "+sif": no index has that name, so none is taken for current.
    """
    if settings.provider == "wordllama":
        if settings.token_weights == "none":
            return wordllama_model()
        model = wordllama_model(weights)
        return model if weights else replace(model, name=model.name + _NOT_FITTED)
    if settings.provider == "minilm":
        return llamaindex.MINILM
    return EmbeddingModel(settings.provider, settings.model, UNKNOWN_DIMENSION)


def is_same_model(wanted: EmbeddingModel, built: EmbeddingModel) -> bool:
    """Whether vectors of an index `built` with one model serve a configuration that wants the other."""
    if UNKNOWN_DIMENSION in (wanted.dimension, built.dimension):
        return (wanted.provider, wanted.name) == (built.provider, built.name)
    return wanted == built
