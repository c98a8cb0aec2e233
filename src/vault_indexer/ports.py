"""The protocols of the exchangeable parts. Their implementations never import each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vault_indexer.model import Chunk, Note
from vault_indexer.system import record

if TYPE_CHECKING:
    from vault_indexer.arrays import Vectors, WordNumbers


@record
class EmbeddingModel:
    """The identity of an embedding model. Only vectors of the same model are comparable."""

    provider: str
    name: str
    dimension: int

    @property
    def key(self) -> str:
        """The name of the model in the vector cache."""
        return f"{self.provider}/{self.name}/{self.dimension}"

    @classmethod
    def of_key(cls, key: str) -> EmbeddingModel:
        """The model of a key; for an invalid key, the dimension is 1."""
        provider, _, rest = key.partition("/")
        name, _, dimension = rest.rpartition("/")
        return cls(provider, name, int(dimension) if dimension.isdecimal() else 1)


class Chunker(Protocol):
    """Splits a parsed note into chunks: in order, deterministically, each body a span of the note."""

    @property
    def strategy(self) -> str:
        """The name of the strategy in the configuration."""

    def chunk(self, note: Note) -> list[Chunk]:
        """Returns all chunks of the note; none for an empty or blank note."""


class WordVectors(Protocol):
    """The numbered words of a static model, each with one vector regardless of context. They show which words
    are similar, independent of the model that embeds the chunks."""

    def numbers(self, text: str) -> WordNumbers:
        """The numbers of the distinct known words in a text, in any case; uint16, ascending."""

    def likeness(self, words: Sequence[str], numbers: WordNumbers) -> Vectors:
        """The cosine of each word with each numbered one, shape (len(words), len(numbers)); nan for an
        unknown word."""


class Embedder(Protocol):
    """Embeds texts as vectors of length 1 (all zero for a text without a known token). Any thread may call
    it."""

    @property
    def model(self) -> EmbeddingModel:
        """The model, as recorded in the manifest."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 array of shape (len(texts), dimension). Raises ProviderError."""

    def embed_query(self, text: str) -> Vectors:
        """float32 array of shape (dimension,). Raises ProviderError."""


@runtime_checkable
class Tokenizer(Protocol):
    """The positions of a model's tokens in a text."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end (characters) of every token, in order. A character with several tokens is in each of
        them, or the first one contains it and the others are empty."""


class Llm(Protocol):
    """A language model that completes one prompt."""

    @property
    def name(self) -> str:
        """Provider and model, for cache keys."""

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """Returns the answer's text with at most `max_tokens` tokens (None: the model's setting). Raises
        ProviderError on failure or timeout."""


class StreamingLlm(Llm, Protocol):
    """A language model that can stream its answer and cancel a request."""

    def pieces(
        self, prompt: str, *, timeout_s: float, is_cancelled: Callable[[], bool], as_written: bool
    ) -> Iterator[str]:
        """Yields the answer's text in order, as it is written if the model can stream, otherwise in one
        piece.

        `timeout_s` limits the whole answer. The request ends when the iterator is closed, or within a tenth
        of a second after `is_cancelled` returns True. Raises ProviderError like `complete`, and
        QueryCancelledError after a cancellation.
        """
