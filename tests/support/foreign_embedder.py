"""An embedder of a model that no vault of the tests has."""

from __future__ import annotations

import numpy as np

from vault_indexer.ports import EmbeddingModel


class ForeignEmbedder:
    """An embedder of another model, which finds everything alike."""

    model = EmbeddingModel("other", "m", 256)

    def embed(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        del text
        vector: np.ndarray = np.zeros(256, np.float32)
        vector[0] = 1
        return vector
