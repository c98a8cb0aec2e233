"""The models that made the vectors of the published vaults: a question's vector has to come from the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeGuard, get_args

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.single_flight import SingleFlight
from vault_indexer.ports import Embedder, EmbeddingModel
from vault_indexer.providers import TokenWeights, embedder_for
from vault_indexer.store.milvus import MilvusVaults
from vault_indexer.system import LruCache

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

_LocalProvider = Literal["wordllama", "multilingual", "e5", "minilm"]
"""Providers that need neither a network nor a setting: what users ask stays in this process."""

MAX_MODELS = 8
"""Models in memory at once: the table of a static model with token weights has 33 MB."""


class QueryModels:
    """Embeds questions with the models of the vaults. A model is loaded when a question first needs it; the
    one that was not used for longest makes room. Any thread may ask; who wants a model that is being loaded
    waits, and nobody else."""

    def __init__(self, vaults: MilvusVaults, calls: MilvusCalls) -> None:
        self._vaults = vaults
        self._calls = calls
        self._loading: SingleFlight[tuple[str, str], Embedder] = SingleFlight()
        self._loaded: LruCache[tuple[str, str], Embedder] = LruCache(MAX_MODELS)

    def embedder(self, model: str, weights: str) -> Embedder:
        """What embeds questions, by the key of a model and the digest of its token weights ("" for none).
        Where this gateway has no such model, each of its vectors raises ProviderError. Raises
        BackendError."""
        key = model, weights
        try:
            return self._loaded.get(key, lambda: self._loading.get(key, partial(self._load, model, weights)))
        except ProviderError as error:
            return _MissingModel(EmbeddingModel.of_key(model), str(error))

    def _load(self, model: str, weights: str) -> Embedder:
        provider = EmbeddingModel.of_key(model).provider
        if not _is_local(provider):
            raise ProviderError(f"a gateway has no model of the provider {provider}")
        fitted = self._weights(weights) if weights else None
        settings = EmbeddingSettings(provider=provider, token_weights="idf" if fitted else "none")
        embedder = embedder_for(settings, weights=fitted)
        if embedder.model.key != model:
            raise ProviderError(f"the model {model} is not installed here, but {embedder.model.key}")
        return embedder

    def _weights(self, digest: str) -> TokenWeights:
        found = self._calls.run("weights", partial(self._vaults.blob, digest))
        if found is None:
            raise ProviderError("the word weights of the vault are not on the search server")
        return TokenWeights.from_bytes(found)


@dataclass(frozen=True, slots=True)
class _MissingModel:
    """Implements Embedder for a model that is not here: words are searched without it."""

    model: EmbeddingModel
    reason: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises ProviderError."""
        raise ProviderError(f"{len(texts)} texts: {self.reason}")

    def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - as the port has it
        """Raises ProviderError."""
        raise ProviderError(self.reason)


def _is_local(provider: str) -> TypeGuard[_LocalProvider]:
    return provider in get_args(_LocalProvider)
