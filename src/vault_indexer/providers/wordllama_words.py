"""The words of the wordllama model: those of its tokens that are a whole word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.providers.unit import unit_rows
from vault_indexer.providers.wordllama_tokens import shared_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors, WordNumbers

_WORD = re.compile(r"[^\W_]+")


class WordLlamaWords:
    """ports.WordVectors: a word of several tokens has no vector of its own, such as a rare one or a name.

    The vocabulary has 11,000 words. A number is that of a token, so it fits into 16 bits, and is the same
    with any token weights. Threads may share it.
    """

    def __init__(self, table: NDArray[np.float32]) -> None:
        """`table` has the vectors of all tokens, shape (32000, dimension)."""
        self._table = table

    def numbers(self, text: str) -> WordNumbers:
        """The distinct words of a text, in lower case."""
        known = self._known
        found = {known.get(word, -1) for word in _WORD.findall(text.lower())} - {-1}
        return np.array(sorted(found), np.uint16)

    def likeness(self, words: Sequence[str], numbers: WordNumbers) -> Vectors:
        """Of the words in lower case."""
        own = [shared_tokens().number_of_word(word.lower()) for word in words]
        is_known = [number is not None for number in own]
        cosines: Vectors = np.full((len(words), len(numbers)), np.nan, np.float32)
        asked = unit_rows(self._table[np.array([number for number in own if number is not None], np.intp)])
        # BLAS would start threads for it, which then wait busily.
        products = np.einsum("qd,nd->qn", asked, self._table[numbers])
        cosines[is_known] = products / self._lengths[numbers]
        return cosines

    @cached_property
    def _lengths(self) -> Vectors:
        """The length of each vector; of one without any, more than nothing."""
        lengths: Vectors = np.sqrt(np.einsum("nd,nd->n", self._table, self._table))
        return np.maximum(lengths, np.finfo(np.float32).tiny)

    @cached_property
    def _known(self) -> dict[str, int]:
        tokens = shared_tokens().words().items()
        return {word: number for word, number in tokens if _WORD.fullmatch(word) and word == word.lower()}
