"""An embedder that loads its model when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.ports import Embedder, EmbeddingModel

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


class LazyEmbedder:
    """ports.Embedder around one that `load` makes at the first text. Where the `model` is known, its name
    needs no loading."""

    def __init__(self, load: Callable[[], Embedder], model: EmbeddingModel | None = None) -> None:
        self._load = load
        self._model = model
        self._loaded: Embedder | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, loaded for it where it is not known."""
        return self._model or self._ready().model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Delegates to the loaded model. Raises ProviderError, also if that is not the known model."""
        return self._ready().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """Delegates to the loaded model."""
        return self._ready().embed_query(text)

    def _ready(self) -> Embedder:
        if self._loaded is None:
            loaded = self._load()
            if self._model not in (None, loaded.model):
                raise ProviderError(
                    f"the model is {loaded.model.key} now, it was {self._model.key}: run `indexer rebuild`"
                )
            self._loaded = loaded
        return self._loaded
