"""The protocols of the exchangeable parts. Implementations never import each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vault_indexer.model import Chunk, Note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    WordNumbers = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """What makes two vectors comparable: they must come from the same model."""

    provider: str
    name: str
    dimension: int

    @property
    def key(self) -> str:
        """Names the model in the vector cache."""
        return f"{self.provider}/{self.name}/{self.dimension}"

    @classmethod
    def of_key(cls, key: str) -> EmbeddingModel:
        """The model of a key; of one that is none, the dimension is 1."""
        provider, _, rest = key.partition("/")
        name, _, dimension = rest.rpartition("/")
        return cls(provider, name, int(dimension) if dimension.isdecimal() else 1)


class Chunker(Protocol):
    """Splits a parsed note into chunks: in order, deterministic, each body a span of the note."""

    @property
    def strategy(self) -> str:
        """The name of the strategy in the configuration."""
        ...

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note; an empty or blank note has none."""
        ...


class WordVectors(Protocol):
    """The words for which there is a vector each, whatever the context, known by number. They say
    which words are alike, whichever model embeds the chunks."""

    def numbers(self, text: str) -> WordNumbers:
        """The distinct words of a text that it knows, in any case; uint16, ascending."""
        ...

    def likeness(self, words: Sequence[str], numbers: WordNumbers) -> Vectors:
        """The cosine of each word with each numbered one, shape (len(words), len(numbers)); nan for a word
        that it does not know."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of length 1 (or all zero for a text without a known token). Any thread
    may ask."""

    @property
    def model(self) -> EmbeddingModel:
        """The model, as the manifest names it."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 array of shape (len(texts), dimension). Raises ProviderError."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """float32 array of shape (dimension,). Raises ProviderError."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Where a model's tokens stand in a text."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end (characters) of every token, in order. A character of several tokens is in each of
        them, or the first has it and the others are empty."""
        ...


class Llm(Protocol):
    """A language model that completes one prompt."""

    @property
    def name(self) -> str:
        """Provider and model, for cache keys."""
        ...

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """The answer's text, of at most `max_tokens` (None: as many as the model is set to). Raises
        ProviderError on failure or timeout."""
        ...


class StreamingLlm(Llm, Protocol):
    """A language model whose answer can be read while it is written, and whose request can be given up."""

    def pieces(
        self, prompt: str, *, timeout_s: float, is_cancelled: Callable[[], bool], as_written: bool
    ) -> Iterator[str]:
        """The answer's text in order: as it is written, where the model can do that, else in one piece.

        `timeout_s` bounds the whole answer. The request ends when the iterator is closed, and within a tenth
        of a second after `is_cancelled` says so. Raises ProviderError as `complete` does, and then
        QueryCancelledError.
        """
        ...
