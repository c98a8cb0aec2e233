"""An embedder that loads its model with the first text; its name is known without loading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.ports import Embedder, EmbeddingModel

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


class LazyEmbedder:
    """ports.Embedder around one that `load` makes, whose model is already known to be `model`."""

    def __init__(self, model: EmbeddingModel, load: Callable[[], Embedder]) -> None:
        self._model = model
        self._load = load
        self._loaded: Embedder | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, without loading it."""
        return self._model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the loaded one. Raises ProviderError, also where what was loaded is another model."""
        return self._ready().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """As the loaded one."""
        return self._ready().embed_query(text)

    def _ready(self) -> Embedder:
        if self._loaded is None:
            loaded = self._load()
            if loaded.model != self._model:
                raise ProviderError(
                    f"the model is {loaded.model.key} now, it was {self._model.key}: run `indexer rebuild`"
                )
            self._loaded = loaded
        return self._loaded
