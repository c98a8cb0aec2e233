"""Weights for the tokens of the static embedding, computed from the vault that uses them.

Smooth inverse frequency (Arora, Liang, Ma 2017, "A simple but tough-to-beat baseline for sentence
embeddings"): weight(t) = a / (a + p(t)), where p(t) is the share of token t in the vault, smoothed
towards a uniform prior of `PRIOR_TOKENS` tokens, so that three notes hardly move a weight and a thousand
do: p(t) = (n(t) + PRIOR_TOKENS / V) / (n + PRIOR_TOKENS). The component that all texts share is
then removed (see `WordLlamaEmbedder`). Mean reciprocal rank of the vectors alone: question to paragraph
(XQuAD, 240 paragraphs per language), question to passage (the chunking questions), title to note (2,419
notes):

    |                             | en   | es   | zh   | ru   | passages | titles |
    | plain mean                  | .882 | .629 | .685 | .637 | .639     | .620   |
    | inverse document frequency  | .879 | .621 | .644 | .674 | .677     | .681   |
    | smooth inverse frequency    | .886 | .685 | .673 | .681 | .679     | .680   |
    | and the common part removed | .885 | .732 | .688 | .686 | .680     | .682   |
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.errors import ProviderError
from vault_indexer.providers.remote import package_folder

if TYPE_CHECKING:
    import tokenizers
    from numpy.typing import NDArray

    TokenIds = NDArray[np.int32]


# A fast reader of the tokens of the wordllama model: the tokenizer processes each distinct word once.
#
# No token of the vocabulary (Llama 2, byte-pair encoding, 32,000 tokens) crosses a border of `WORD`. A merge
# produces a token of the vocabulary, so no merge crosses such a border either, and a text's tokens are the
# concatenated tokens of its words. Words repeat: a dictionary contains nearly all of them, and is several
# times as fast as the tokenizer. A test checks the claim against the vocabulary.


VOCABULARY_SIZE = 32_000

# Spaces belong to the word after them ("▁▁word"). From U+2E80 on (CJK, kana, Hangul, emoji) each character
# has its own tokens. The superscript two counts as punctuation: "²." and "²," are tokens.
WORD = re.compile(
    r" *(?:[⺀-\ufffc\U00010000-\U0010ffff]"
    r"|[^\W_²⺀-\ufffc\U00010000-\U0010ffff]+"
    r"|(?:[^\w \n⺀-\ufffc\U00010000-\U0010ffff]|[_²])+)"
    r"|\n| +"
)

TOKENIZER_FILE = "tokenizers/l2_supercat_tokenizer_config.json"
_INSTALL = "pip install wordllama"
_SLICE_CHARS = 100_000
_CACHED_WORDS = 200_000
_CACHED_WORD_CHARS = 64
WORD_BEGINS = "▁"
_NEWLINE_ID = 13
_ID_BYTES = 4
_LINE_BREAK = _NEWLINE_ID.to_bytes(_ID_BYTES, sys.byteorder)


class WordLlamaTokens:
    """Converts texts to token ids. Special tokens in a text (`<s>` is also HTML) are plain characters.

    Threads may share it: they read and fill one dictionary, whose entries never change. It encodes text by
    text, so `tokenizers` starts no threads: a build is parallel by processes, one core each.
    """

    def __init__(self) -> None:
        from tokenizers import normalizers

        self._tokenizer = load_tokenizer()
        # The model's normaliser adds a space before the text; `ids` does so instead, so that words need not.
        self._tokenizer.normalizer = normalizers.Replace(" ", WORD_BEGINS)
        self._tokenizer.encode_special_tokens = True
        self._known: dict[str, bytes] = {"\n": _LINE_BREAK}

    def ids(self, texts: Iterable[str]) -> Iterator[TokenIds]:
        """The token ids of each text, in order; a text of any length is read whole."""
        for text in texts:
            spaced = " " + text if text else text
            yield np.frombuffer(b"".join(map(self._slice_ids, _slices(spaced))), dtype=np.int32)

    def _slice_ids(self, text: str) -> bytes:
        if len(self._known) > _CACHED_WORDS:
            self._known = {"\n": _LINE_BREAK}
        known = self._known
        words = WORD.findall(text)
        new = [word for word in dict.fromkeys(words) if word not in known]
        if not new:
            return b"".join([known[word] for word in words])
        found = self._encode(new)
        known.update((word, ids) for word, ids in found.items() if len(word) <= _CACHED_WORD_CHARS)
        return b"".join([found[word] if word in found else known[word] for word in words])

    def _encode(self, words: list[str]) -> dict[str, bytes]:
        """The ids of each word. One call reads all, one per line, because no token crosses a line."""
        # a lone surrogate is not text and becomes "?"
        lines = "\n".join(words).encode("utf-8", "replace").decode()
        encoding = self._tokenizer.encode(lines, add_special_tokens=False)
        ids = np.array(encoding.ids, dtype=np.int32)
        ends = np.flatnonzero(ids == _NEWLINE_ID) * _ID_BYTES
        data = ids.tobytes()
        starts = [0, *(ends + _ID_BYTES).tolist()]
        return {
            word: data[start:end]
            for word, start, end in zip(words, starts, [*ends.tolist(), len(data)], strict=True)
        }


@cache
def shared_tokens() -> WordLlamaTokens:
    """The single WordLlamaTokens of this process: a vocabulary takes a tenth of a second and 12 MB."""
    return WordLlamaTokens()


class WordLlamaTokenizer:
    """A Tokenizer that locates the model's tokens in a text, for chunks measured in tokens.

    Loads the vocabulary with the first text, because most strategies measure in characters and do not need
    it.
    """

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        tokenizer = load_tokenizer()
        tokenizer.encode_special_tokens = True
        return tokenizer

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token in characters; several byte tokens of a character have the same."""
        found: list[tuple[int, int]] = []
        start = 0
        for part in _slices(text):
            encoding = self._tokenizer.encode(part, add_special_tokens=False)
            found.extend((start + begin, start + end) for begin, end in encoding.offsets)
            start += len(part)
        return found


def wordllama_file(name: str) -> Path:
    """A data file of the installed wordllama package. Raises ProviderError if it is missing."""
    path = package_folder("wordllama", _INSTALL) / name
    if not path.is_file():
        raise ProviderError(f"{path} is missing: {_INSTALL} --force-reinstall")
    return path


def load_tokenizer() -> tokenizers.Tokenizer:
    """The model's tokenizer from the wheel, with padding and truncation disabled."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(wordllama_file(TOKENIZER_FILE)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _slices(text: str) -> Iterator[str]:
    """Pieces of bounded length, split before a nearby line break if there is one (which changes no token)."""
    start = 0
    while start < len(text):
        end = start + _SLICE_CHARS
        if end < len(text):
            line_break = text.rfind("\n", start + 1, end)
            end = line_break if line_break > 0 else end
        yield text[start:end]
        start = end


SMOOTHING = 0.002
"""`a` in the formula. The best of .0001 to .005 on the sets above, with little difference around it."""

PRIOR_TOKENS = 5_000
"""The best of 0 to 100,000: vaults of 3 notes are no worse than the plain mean, those of 30 or more gain in
full."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """The frequency of each token in some texts: int64 of shape (32000,).

    Worker processes count their share and send it (it can be pickled); a sum does not depend on the order.
    """

    occurrences: NDArray[np.int64]

    @classmethod
    def of(cls, ids_of_texts: Iterable[TokenIds]) -> TokenCounts:
        """The counts of texts, given their token ids; all zero for no texts."""
        occurrences = np.zeros(VOCABULARY_SIZE, dtype=np.int64)
        for ids in ids_of_texts:
            np.add.at(occurrences, ids, 1)
        return cls(occurrences)

    def merge(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(self.occurrences + other.occurrences)


@dataclass(frozen=True, slots=True, eq=False)
class TokenWeights:
    """A frozen weight per token: float32 of shape (32000,), above 0 and at most 1.

    `name` is derived from the values, so it is equal if and only if the vectors are. It is part of the
    manifest and, within the model's name, of the key of the vector cache.
    """

    name: str
    values: NDArray[np.float32]

    @classmethod
    def fit(cls, counts: TokenCounts) -> TokenWeights:
        """The weights for a vault with these counts. Without any text they are all equal."""
        total = counts.occurrences.sum() + PRIOR_TOKENS
        share = (counts.occurrences + PRIOR_TOKENS / VOCABULARY_SIZE) / total
        return cls._named((SMOOTHING / (SMOOTHING + share)).astype(np.float32))

    @classmethod
    def from_bytes(cls, data: bytes) -> TokenWeights:
        """Reads the bytes from `to_bytes`. Raises ProviderError for any others."""
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
        return cls(f"sif-{digest[:12]}", values)
