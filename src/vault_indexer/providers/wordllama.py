"""The default embedder: static token vectors from the wordllama wheel, averaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.errors import ProviderError
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.token_weights import TokenCounts, TokenWeights
from vault_indexer.providers.unit import unit_rows
from vault_indexer.providers.wordllama_tokens import VOCABULARY_SIZE, shared_tokens, wordllama_file
from vault_indexer.system import batches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors

DIMENSION = 256
LANGUAGES = frozenset({"en"})

NAME = "l2_supercat_256"
_WEIGHTS_FILE = f"weights/{NAME}.safetensors"
_TENSOR = "embedding.weight"
_IDS_AT_ONCE = 4_096


def wordllama_model(weights: TokenWeights | None = None) -> EmbeddingModel:
    """The model's name in the manifest; vectors made with other token weights are another model's."""
    name = f"{NAME}+{weights.name}" if weights else NAME
    return EmbeddingModel(provider="wordllama", name=name, dimension=DIMENSION)


class WordLlamaEmbedder:
    """ports.Embedder: a text's vector is the mean of its tokens' vectors, each times the token's weight.

    Without weights these are the vectors of `wordllama.WordLlama.embed` (cosine 1), without importing it and
    without padding. Weights cost nothing: they are worked into the table once. A text's vector depends on
    that text alone, bit for bit, never on its neighbours in the batch.
    """

    def __init__(self, weights: TokenWeights | None = None) -> None:
        self._model = wordllama_model(weights)
        self._tokens = shared_tokens()
        table = load_table().astype(np.float32)
        self._table = table if weights is None else _weight_rows(table, weights.values)

    @property
    def model(self) -> EmbeddingModel:
        """Names the token weights too."""
        return self._model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text; a text without any token is all zero."""
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        rows = np.empty((_IDS_AT_ONCE, DIMENSION), dtype=np.float32)
        for vector, ids in zip(vectors, self._tokens.ids(texts), strict=True):
            for some in batches(ids, _IDS_AT_ONCE):
                # "clip" only spares a copy: ids come from the table's own tokenizer.
                self._table.take(some, axis=0, out=rows[: len(some)], mode="clip")
                vector += np.add.reduce(rows[: len(some)], axis=0)
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Vectors:
        """As any text: the model has no prompt for queries."""
        row: Vectors = self.embed([text])[0]
        return row

    def count(self, texts: Iterable[str]) -> TokenCounts:
        """How often each token stands in the texts: what `TokenWeights.fit` needs."""
        return TokenCounts.of(self._tokens.ids(texts))


def load_table() -> NDArray[np.float16]:
    """The vectors of all tokens, shape (32000, 256), as they come in the wheel."""
    from safetensors import SafetensorError, safe_open

    path = wordllama_file(_WEIGHTS_FILE)
    try:
        with safe_open(path, framework="np") as tensors:
            table: NDArray[np.float16] = tensors.get_tensor(_TENSOR)
    except (OSError, SafetensorError) as error:
        raise ProviderError(f"{path} cannot be read: {error}") from error
    if table.shape != (VOCABULARY_SIZE, DIMENSION):
        raise ProviderError(f"{path} holds a table of shape {table.shape}, not (32000, 256)")
    return table


def _weight_rows(table: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row times its weight, less its share in the direction that the texts of the vault have in common.

    The direction is the vault's mean vector, sum of p(t) w(t) v(t), as w = a / (a + p) gives
    p w = a (1 - w). Arora et al. take the first singular vector of the texts' vectors; the mean
    measures alike and needs the token counts alone. By einsum, not BLAS, whose sums depend on the number
    of its threads: two processes must make the same bits.
    """
    common = np.einsum("t,td->d", 1 - weights, table)
    common /= max(float(np.linalg.norm(common)), float(np.finfo(np.float32).tiny))
    table *= weights[:, np.newaxis]
    table -= np.einsum("td,d->t", table, common)[:, np.newaxis] * common
    return table
