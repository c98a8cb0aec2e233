"""Which embedder a configuration means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.ports import Embedder, EmbeddingModel
from vault_indexer.providers import e5, llamaindex, multilingual, wordllama
from vault_indexer.providers.token_weights import TokenWeights
from vault_indexer.providers.wordllama import WordLlamaEmbedder, wordllama_model

UNKNOWN_DIMENSION = 0
"""Stands for a dimension that only the loaded model could tell."""

OTHER_PROVIDERS: Mapping[str, Callable[[EmbeddingSettings], Embedder]] = MappingProxyType(
    {
        "multilingual": lambda _: multilingual.MultilingualEmbedder(),
        "e5": lambda _: e5.E5Embedder(),
        "huggingface": llamaindex.huggingface,
        "minilm": llamaindex.minilm,
        "ollama": llamaindex.ollama,
        "openai": llamaindex.openai,
    }
)
"""All providers but the default, each a row: `embedding.provider` to what makes the embedder."""

_ONE_MODEL: Mapping[str, EmbeddingModel] = MappingProxyType(
    {model.provider: model for model in (llamaindex.MINILM, multilingual.MULTILINGUAL, e5.E5)}
)
"""The other providers that have one model, whatever `embedding.model` says."""

_LANGUAGES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "wordllama": wordllama.LANGUAGES,
        "minilm": llamaindex.MINILM_LANGUAGES,
        "multilingual": multilingual.LANGUAGES,
        "e5": e5.LANGUAGES,
    }
)
_WITHOUT_VAULT = ("auto", "wordllama")
_NOT_FITTED = "+sif"


def embedder_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> Embedder:
    """The embedder that the settings name, loaded. Raises ProviderError.

    `weights` belong to the generation that is built or read; they count only for static embeddings with
    `token_weights` on. A remote provider is reached only if the settings name it. Where no vault has decided
    what `auto` stands for, it is wordllama.
    """
    if settings.provider in _WITHOUT_VAULT:
        return WordLlamaEmbedder(weights if settings.token_weights != "none" else None)
    return OTHER_PROVIDERS[settings.provider](settings)


def model_for(settings: EmbeddingSettings, *, weights: TokenWeights | None = None) -> EmbeddingModel:
    """What `embedder_for` would call its model, without loading anything.

    The dimension is UNKNOWN_DIMENSION where only the loaded model knows it. Where token weights are
    configured but not given, the name ends in "+sif": no index has that name, so none is taken for current.
    """
    if settings.provider in _WITHOUT_VAULT:
        if settings.token_weights == "none":
            return wordllama_model()
        model = wordllama_model(weights)
        return model if weights else replace(model, name=model.name + _NOT_FITTED)
    if settings.provider in _ONE_MODEL:
        return _ONE_MODEL[settings.provider]
    name = settings.model
    if settings.provider == "huggingface":
        name = llamaindex.huggingface_name(name)
    return EmbeddingModel(settings.provider, name, UNKNOWN_DIMENSION)


def languages_of(model: EmbeddingModel) -> frozenset[str] | None:
    """The languages (ISO 639-1) that the model knows; None where that is unknown, as of a model that the
    user names."""
    return _LANGUAGES.get(model.provider)


def languages_of_provider(provider: str) -> frozenset[str]:
    """The same for a provider with one model, such as "wordllama". Raises KeyError for another."""
    return _LANGUAGES[provider]


def is_same_model(wanted: EmbeddingModel, built: EmbeddingModel) -> bool:
    """Whether vectors of an index `built` with one model serve a configuration that wants the other."""
    if UNKNOWN_DIMENSION in (wanted.dimension, built.dimension):
        return (wanted.provider, wanted.name) == (built.provider, built.name)
    return wanted == built
