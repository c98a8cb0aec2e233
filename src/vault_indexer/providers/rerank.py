"""An optional cross-encoder that reads query and text together: slow, and better than either ranking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vault_indexer.providers.remote import Endpoint, extra_needed

_BATCH = 32


class CrossEncoderReranker:
    """ports.Reranker on a sentence-transformers cross-encoder: a folder (offline) or a name of the hub."""

    def __init__(self, model: str) -> None:
        with extra_needed("huggingface"):
            from sentence_transformers import CrossEncoder

        advice = "check that it is a folder with a cross-encoder or a name of the Hugging Face hub"
        self._endpoint = Endpoint("cross-encoder", model, "", advice)
        with self._endpoint.translate_errors():
            self._encoder = CrossEncoder(model, local_files_only=Path(model).is_dir())

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self._endpoint.provider}/{self._endpoint.model}"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, the higher the better. Raises ProviderError."""
        if not texts:
            return []
        pairs = [(query, text) for text in texts]
        with self._endpoint.translate_errors():
            scores = self._encoder.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
            return [float(score) for score in scores]
