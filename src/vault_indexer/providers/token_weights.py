"""How much each token of the static embedding counts, learnt from the vault it is used on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_indexer.errors import ProviderError
from vault_indexer.providers.wordllama_tokens import VOCABULARY_SIZE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.providers.wordllama_tokens import TokenIds


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """In how many texts each token stands: `frequencies` is int64 of shape (32000,).

    Worker processes count their share and send it (it pickles); the sum does not depend on the order.
    """

    texts: int
    frequencies: NDArray[np.int64]

    @classmethod
    def of(cls, ids_of_texts: Iterable[TokenIds]) -> TokenCounts:
        """Counts of the texts whose token ids these are."""
        import numpy as np

        texts = 0
        frequencies = np.zeros(VOCABULARY_SIZE, dtype=np.int64)
        for ids in ids_of_texts:
            texts += 1
            frequencies[np.unique(ids)] += 1
        return cls(texts, frequencies)

    def merge(self, other: TokenCounts) -> TokenCounts:
        """Counts of both sets of texts together."""
        return TokenCounts(self.texts + other.texts, self.frequencies + other.frequencies)


@dataclass(frozen=True, slots=True, eq=False)
class TokenWeights:
    """A weight a token, frozen: `values` is float32 of shape (32000,), all above zero.

    `name` is made of the values, so it is equal exactly where the vectors would be; it goes into the
    manifest and, by way of the model's name, into the key of the vector cache.
    """

    name: str
    values: NDArray[np.float32]

    @classmethod
    def fit(cls, counts: TokenCounts) -> TokenWeights:
        import numpy as np

        return cls._named(np.log1p(counts.texts / (1.0 + counts.frequencies)).astype(np.float32))

    @classmethod
    def from_bytes(cls, data: bytes) -> TokenWeights:
        """What `to_bytes` gave. Raises ProviderError for anything else."""
        import numpy as np

        values = np.frombuffer(data, dtype="<f4") if len(data) == 4 * VOCABULARY_SIZE else None
        if values is None or not bool((values > 0).all() and np.isfinite(values).all()):
            raise ProviderError("the token weights of this index are damaged: run `indexer rebuild`")
        return cls._named(values.astype(np.float32))

    def to_bytes(self) -> bytes:
        """32,000 little-endian float32."""
        return self.values.astype("<f4").tobytes()

    @classmethod
    def _named(cls, values: NDArray[np.float32]) -> TokenWeights:
        digest = hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()
        return cls(f"idf-{digest[:12]}", values)
