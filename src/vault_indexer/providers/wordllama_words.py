"""The words of the wordllama model: those of its tokens that are a whole word."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.providers.unit import unit_rows
from vault_indexer.providers.wordllama_tokens import shared_tokens
from vault_indexer.text.scripts import LETTER_OR_DIGIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.ports import Vectors, WordNumbers

_WORD = re.compile(f"{LETTER_OR_DIGIT}+")

_WORDS_KEPT = 256
"""44 kB each."""


class WordLlamaWords:
    """ports.WordVectors: a word of several tokens has no vector of its own, such as a rare one or a name.

    The vocabulary has 11,000 words. A number is that of a token, so it fits into 16 bits, and is the same
    with any token weights. Threads may share it. What was computed for the words asked for last is kept: as
    somebody types, each key asks for most of them again.
    """

    def __init__(self, table: NDArray[np.float32]) -> None:
        """`table` has the vectors of all tokens, shape (32000, dimension)."""
        self._table = table
        self._rows: OrderedDict[int, Vectors] = OrderedDict()
        self._lock = Lock()

    def numbers(self, text: str) -> WordNumbers:
        """The distinct words of a text, in lower case."""
        known = self._known
        found = {known.get(word, -1) for word in _WORD.findall(text.lower())} - {-1}
        return np.array(sorted(found), np.uint16)

    def likeness(self, words: Sequence[str], numbers: WordNumbers) -> Vectors:
        """Of the words in lower case."""
        own = [shared_tokens().number_of_word(word.lower()) for word in words]
        asked = [number for number in own if number is not None]
        cosines: Vectors = np.full((len(words), len(numbers)), np.nan, np.float32)
        cosines[[number is not None for number in own]] = self._cosines(asked, numbers)
        return cosines

    def _cosines(self, asked: Sequence[int], numbers: WordNumbers) -> Vectors:
        """Of each of the asked words with each of `numbers`."""
        rows = [self._row(number) for number in asked]
        places = self._places[numbers]
        found: Vectors = np.empty((len(asked), len(numbers)), np.float32)
        for of_word, row in zip(found, rows, strict=True):
            row.take(places, out=of_word)
        unknown = np.isnan(found)
        lacking, fresh = np.flatnonzero(unknown.any(axis=1)), np.flatnonzero(unknown.any(axis=0))
        if len(fresh):
            computed = self._compute([asked[number] for number in lacking.tolist()], numbers[fresh])
            found[np.ix_(lacking, fresh)] = computed
            for number, values in zip(lacking.tolist(), computed, strict=True):
                rows[number][places[fresh]] = values
        return found

    def _compute(self, asked: Sequence[int], numbers: WordNumbers) -> Vectors:
        # BLAS would start threads for it, which then wait busily.
        products = np.einsum("qd,nd->qn", unit_rows(self._table[asked]), self._table[numbers])
        cosines: Vectors = products / self._lengths[numbers]
        return cosines

    def _row(self, number: int) -> Vectors:
        """The likenesses of a word with all others, by place; NaN for those not computed yet. Two threads may
        compute the same one, and find the same."""
        with self._lock:
            row = self._rows.pop(number, None)
            if row is None:
                row = np.full(len(self._known), np.nan, np.float32)
            self._rows[number] = row
            while len(self._rows) > _WORDS_KEPT:
                self._rows.popitem(last=False)
            return row

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """By number where a word stands in a row."""
        places = np.zeros(len(self._table), np.intp)
        places[sorted(self._known.values())] = np.arange(len(self._known))
        return places

    @cached_property
    def _lengths(self) -> Vectors:
        """The length of each vector; of one without any, more than nothing."""
        lengths: Vectors = np.sqrt(np.einsum("nd,nd->n", self._table, self._table))
        return np.maximum(lengths, np.finfo(np.float32).tiny)

    @cached_property
    def _known(self) -> dict[str, int]:
        tokens = shared_tokens().words().items()
        return {word: number for word, number in tokens if _WORD.fullmatch(word) and word == word.lower()}
