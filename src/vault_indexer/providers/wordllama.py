"""The default embedder: static token vectors from the wordllama wheel, averaged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Vectors, WordNumbers, unit_rows
from vault_indexer.errors import ProviderError
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.token_weights import (
    TOKENIZER_FILE,
    VOCABULARY_SIZE,
    WORD_BEGINS,
    TokenCounts,
    TokenWeights,
    shared_tokens,
    wordllama_file,
)
from vault_indexer.system import batches
from vault_indexer.text.scripts import LETTER_OR_DIGIT

DIMENSION = 256
LANGUAGES = frozenset({"en"})

NAME = "l2_supercat_256"
_IDS_AT_ONCE = 4_096


def wordllama_model(weights: TokenWeights | None = None) -> EmbeddingModel:
    """The model's name in the manifest; with other token weights it is a different model."""
    name = f"{NAME}+{weights.name}" if weights else NAME
    return EmbeddingModel(provider="wordllama", name=name, dimension=DIMENSION)


class WordLlamaEmbedder:
    """An embedder whose vector for a text is the mean of its tokens' vectors, each multiplied by the token's
    weight.

    Without weights these are the vectors of `wordllama.WordLlama.embed` (cosine 1), without importing it and
    without padding. Weights cost nothing: they are applied to the table once, when it is loaded for the first
    text. A text's vector depends on that text alone, bit for bit, never on the other texts in the batch.
    """

    def __init__(self, weights: TokenWeights | None = None) -> None:
        self.model = wordllama_model(weights)
        self._weights = weights

    @cached_property
    def _table(self) -> Vectors:
        table = load_table().astype(np.float32)
        return table if self._weights is None else _weight_rows(table, self._weights.values)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one row per text; the row of a text without tokens is all zero."""
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        rows = np.empty((_IDS_AT_ONCE, DIMENSION), dtype=np.float32)
        for vector, ids in zip(vectors, shared_tokens().ids(texts), strict=True):
            for some in batches(ids, _IDS_AT_ONCE):
                # "clip" only avoids a copy: ids come from the table's own tokenizer.
                self._table.take(some, axis=0, out=rows[: len(some)], mode="clip")
                vector += np.add.reduce(rows[: len(some)], axis=0)
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Same as for any text: the model has no prompt for queries."""
        row: Vectors = self.embed([text])[0]
        return row

    def count(self, texts: Iterable[str]) -> TokenCounts:
        """The frequency of each token in the texts, the input of `TokenWeights.fit`."""
        return TokenCounts.of(shared_tokens().ids(texts))


def load_table() -> NDArray[np.float16]:
    """The vectors of all tokens, shape (32000, 256), as in the wheel."""
    from safetensors import SafetensorError, safe_open

    path = wordllama_file(f"weights/{NAME}.safetensors")
    try:
        with safe_open(path, framework="np") as tensors:
            table: NDArray[np.float16] = tensors.get_tensor("embedding.weight")
    except (OSError, SafetensorError) as error:
        raise ProviderError(f"{path} cannot be read: {error}") from error
    if table.shape != (VOCABULARY_SIZE, DIMENSION):
        raise ProviderError(f"{path} contains a table of shape {table.shape}, not (32000, 256)")
    return table


def _weight_rows(table: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row times its weight, minus its component in the direction that the texts of the vault share.

    The direction is the vault's mean vector, sum of p(t) w(t) v(t), as w = a / (a + p) gives p w = a (1 - w).
    Arora et al. take the first singular vector of the texts' vectors; the mean performs the same and requires
    only the token counts. Computed by einsum, not BLAS, whose sums depend on the number of its threads: two
    processes must produce the same bits.
    """
    common = np.einsum("t,td->d", 1 - weights, table)
    common /= max(float(np.linalg.norm(common)), float(np.finfo(np.float32).tiny))
    table *= weights[:, np.newaxis]
    table -= np.einsum("td,d->t", table, common)[:, np.newaxis] * common
    return table


# Vectors of single words: the tokens of the wordllama model that are whole words.
#
# They measure the likeness of words, independently of the model that embeds the chunks: a model for whole
# sentences has no vector for a single word, and `wordllama` is part of every installation.


WORD_VECTORS = f"wordllama/{NAME}"
"""Identifies the numbers and vectors of words in the manifest."""

WORD_LANGUAGES = LANGUAGES
"""The languages (ISO 639-1) whose words they compare. They contain some words of other languages, whose
likeness is not meaningful."""

_WORD = re.compile(f"{LETTER_OR_DIGIT}+")
_NUMBERS = 1 << 16

_WORDS_KEPT = 256
"""The number of cached words, of 44 kB each."""


class WordLlamaWords:
    """Vectors of whole words. A word of several tokens, such as a rare one or a name, has no vector.

    The vocabulary has 11,000 words. A number is that of a token, so it fits into 16 bits. Threads may share
    it. The results for the latest words are cached: each keystroke of a query repeats most of them.
    """

    def __init__(self, numbers: Mapping[str, int], table: NDArray[np.float16]) -> None:
        """`numbers` contains those of the words, in lower case, and `table` their vectors in the same order,
        shape (len(numbers), dimension)."""
        self._known = dict(numbers)
        self._table = table
        self._places = np.zeros(_NUMBERS, np.uint16)
        self._places[list(numbers.values())] = np.arange(len(numbers))
        self._row = lru_cache(_WORDS_KEPT)(self._empty_row)

    def numbers(self, text: str) -> WordNumbers:
        """The distinct words of a text, in lower case."""
        known = self._known
        found = {known.get(word, -1) for word in _WORD.findall(text.lower())} - {-1}
        return np.array(sorted(found), np.uint16)

    def likeness(self, words: Sequence[str], numbers: WordNumbers) -> Vectors:
        """The likeness of each of the words (in lower case) to each of `numbers`."""
        own = [self._known.get(word.lower()) for word in words]
        asked = [number for number in own if number is not None]
        cosines: Vectors = np.full((len(words), len(numbers)), np.nan, np.float32)
        cosines[[number is not None for number in own]] = self._cosines(asked, numbers)
        return cosines

    def _cosines(self, asked: Sequence[int], numbers: WordNumbers) -> Vectors:
        rows = [self._row(number) for number in asked]
        places, own_places = self._places[numbers], self._places[list(asked)]
        found: Vectors = np.empty((len(asked), len(numbers)), np.float32)
        for of_word, row in zip(found, rows, strict=True):
            row.take(places, out=of_word)
        unknown = np.isnan(found)
        lacking, fresh = np.flatnonzero(unknown.any(axis=1)), np.flatnonzero(unknown.any(axis=0))
        if len(fresh):
            computed = self._compute(own_places[lacking], places[fresh])
            found[np.ix_(lacking, fresh)] = computed
            for number, values in zip(lacking.tolist(), computed, strict=True):
                rows[number][places[fresh]] = values
        return found

    def _compute(self, asked: NDArray[np.uint16], others: NDArray[np.uint16]) -> Vectors:
        vectors = self._table[others].astype(np.float32)
        # BLAS would start threads for it, which then wait by spinning.
        products = np.einsum("qd,nd->qn", unit_rows(self._table[asked].astype(np.float32)), vectors)
        cosines: Vectors = products / self._lengths[others]
        return cosines

    def _empty_row(self, _number: int) -> Vectors:
        """The likenesses of a word to all others, by position; NaN for those not computed yet. Two threads
        may compute the same one, with the same result."""
        return np.full(len(self._known), np.nan, np.float32)

    @cached_property
    def _lengths(self) -> Vectors:
        """The length of each vector, replaced by a positive number for a zero vector."""
        squares = [
            np.einsum("nd,nd->n", some, some, dtype=np.float32) for some in np.array_split(self._table, 16)
        ]
        lengths: Vectors = np.sqrt(np.concatenate(squares))
        return np.maximum(lengths, np.finfo(np.float32).tiny)


@cache
def word_vectors() -> WordLlamaWords:
    """The single instance of this process: 6 MB, loaded in a fifth of a second. Raises ProviderError if the
    package is damaged or missing."""
    numbers = word_numbers()
    return WordLlamaWords(numbers, load_table()[list(numbers.values())])


def word_numbers() -> dict[str, int]:
    """The number of each token that is a word in lower case, without a tokenizer, which would stay loaded."""
    vocabulary = json.loads(wordllama_file(TOKENIZER_FILE).read_bytes())["model"]["vocab"]
    begun = {token[1:]: number for token, number in vocabulary.items() if token[0] == WORD_BEGINS}
    return {word: number for word, number in begun.items() if _WORD.fullmatch(word) and word == word.lower()}
