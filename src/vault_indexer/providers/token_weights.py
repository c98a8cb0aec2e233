"""How much each token of the static embedding counts, learnt from the vault it is used on.

Smooth inverse frequency (Arora, Liang, Ma 2017, "A simple but tough-to-beat baseline for sentence
embeddings"): weight(t) = a / (a + p(t)), where p(t) is the share of token t in the vault, smoothed
towards a uniform prior of `PRIOR_TOKENS` tokens, so that three notes hardly move a weight and a thousand
do: p(t) = (n(t) + PRIOR_TOKENS / V) / (n + PRIOR_TOKENS). What all texts share is then removed (see
`WordLlamaEmbedder`). Mean reciprocal rank of the vectors alone, question to paragraph (XQuAD, 240
paragraphs a language), question to passage (the chunking questions), title to note (2,419 notes):

    |                             | en   | es   | zh   | ru   | passages | titles |
    | plain mean                  | .882 | .629 | .685 | .637 | .639     | .620   |
    | inverse document frequency  | .879 | .621 | .644 | .674 | .677     | .681   |
    | smooth inverse frequency    | .886 | .685 | .673 | .681 | .679     | .680   |
    | and the common part removed | .885 | .732 | .688 | .686 | .680     | .682   |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.errors import ProviderError
from vault_indexer.providers.wordllama_tokens import VOCABULARY_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.providers.wordllama_tokens import TokenIds

SMOOTHING = 0.002
"""`a` of the formula. Of .0001 to .005 the best on the sets above, and flat around it."""

PRIOR_TOKENS = 5_000
"""Of 0 to 100,000: vaults of 3 notes are no worse than the plain mean, those of 30 and more gain in full."""

_METHOD = "sif"


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """How often each token stands in some texts: int64 of shape (32000,).

    Worker processes count their share and send it (it pickles); a sum does not depend on the order.
    """

    occurrences: NDArray[np.int64]

    @classmethod
    def of(cls, ids_of_texts: Iterable[TokenIds]) -> TokenCounts:
        """Counts of the texts whose token ids these are; of none, all zero."""
        occurrences = np.zeros(VOCABULARY_SIZE, dtype=np.int64)
        for ids in ids_of_texts:
            np.add.at(occurrences, ids, 1)
        return cls(occurrences)

    def merge(self, other: TokenCounts) -> TokenCounts:
        """Counts of both sets of texts together."""
        return TokenCounts(self.occurrences + other.occurrences)


@dataclass(frozen=True, slots=True, eq=False)
class TokenWeights:
    """A weight a token, frozen: float32 of shape (32000,), above 0 and at most 1.

    `name` is made from the values, so it is equal exactly where the vectors would be; it goes into the
    manifest and, within the model's name, into the key of the vector cache.
    """

    name: str
    values: NDArray[np.float32]

    @classmethod
    def fit(cls, counts: TokenCounts) -> TokenWeights:
        """The weights for a vault with these counts. Without any text they are all the same."""
        total = counts.occurrences.sum() + PRIOR_TOKENS
        share = (counts.occurrences + PRIOR_TOKENS / VOCABULARY_SIZE) / total
        return cls._named((SMOOTHING / (SMOOTHING + share)).astype(np.float32))

    @classmethod
    def from_bytes(cls, data: bytes) -> TokenWeights:
        """What `to_bytes` gave. Raises ProviderError for anything else."""
        if len(data) == 4 * VOCABULARY_SIZE:
            values = np.frombuffer(data, dtype="<f4").astype(np.float32)
            if bool(((values > 0) & (values <= 1)).all()):
                return cls._named(values)
        raise ProviderError("the word weights of this index are damaged: run `indexer rebuild`")

    def to_bytes(self) -> bytes:
        """32,000 little-endian float32."""
        return self.values.astype("<f4").tobytes()

    @classmethod
    def _named(cls, values: NDArray[np.float32]) -> TokenWeights:
        values.flags.writeable = False
        digest = hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()
        return cls(f"{_METHOD}-{digest[:12]}", values)
