"""The words of the index: prefix completion, wildcards, and corrections of misspelt words."""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cached_property, lru_cache, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vault_indexer.arrays import Bytes
from vault_indexer.system import JoinedTexts
from vault_indexer.text.fold import fold

_WILD = re.compile(r"[*?]")
_FREQUENCY_WORTH = 0.15
_PIECES = 256
_LENGTHS = (3, 6, 15)
"""The minimum number of letters of a word for one, two and three edits. Rules of thumb."""

_OTHER_FIRST_LETTER = 0.3
"""The factor for a spelling with another first letter. Of two equally near spellings, the more frequent one
and the one with the same first letter are likelier. Rules of thumb."""


class Word(NamedTuple):
    """An index term as written in some text, and the number of documents that contain it (a lower bound)."""

    term: str
    frequency: int


class WordSource(Protocol):
    """A source of words for a lexicon: a segment, or the vocabulary of a vault."""

    @property
    def words(self) -> SegmentWords:
        """All terms as written; the first use may take long."""
        ...

    @property
    def has_read_words(self) -> bool:
        """Whether `words` is available without a wait."""
        ...

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        """Terms as written that begin with the prefix, with their frequencies."""
        ...

    def frequent_words(self, limit: int) -> dict[str, int]: ...


class Lexicon:
    """The words of the segments of one snapshot. The first use of `near` reads all words, which segments
    cache."""

    def __init__(self, segments: Sequence[WordSource]) -> None:
        self._segments = segments
        # Each keystroke of a query repeats the look-ups of its first words. Without a reference to the
        # lexicon: files of segments are closed with the last snapshot that uses them, not later.
        self._by_piece = lru_cache(maxsize=_PIECES)(partial(_words_with, segments))

    def load(self) -> None:
        """Reads everything not read yet, so that the next call is fast."""
        while self.load_next():
            pass

    def load_next(self) -> bool:
        """Reads the words of one segment (up to 0.1 s). False if all had been read."""
        unread = next((segment for segment in self._segments if not segment.has_read_words), None)
        if unread is not None:
            unread.words.load()
        return unread is not None

    @property
    def unread_segments(self) -> int:
        """The number of segments that `load` would read."""
        return sum(not segment.has_read_words for segment in self._segments)

    @property
    def is_partly_read(self) -> bool:
        """Whether a commit or a merge has added segments since the words of the others were read."""
        return 0 < self.unread_segments < len(self._segments)

    def with_prefix(self, prefix: str, limit: int) -> list[Word]:
        """The `limit` most frequent words that begin with `prefix`, including `prefix` itself."""
        return self._most_frequent((segment.words_with_prefix(prefix) for segment in self._segments), limit)

    def frequent(self, limit: int) -> list[Word]:
        """About the `limit` most frequent words: one that is rare in most segments may be missing. Much
        faster than `with_prefix("", limit)`, which reads all words."""
        return self._most_frequent((segment.frequent_words(2 * limit) for segment in self._segments), limit)

    def matching(self, pattern: str, limit: int) -> list[Word]:
        """The `limit` most frequent words that match a pattern with `*` (any characters) and `?` (one)."""
        start = _WILD.split(pattern, maxsplit=1)[0]
        # `fnmatch` would read a bracket as a class of characters.
        whole = re.compile(translate(pattern.replace("[", "[[]"))).match
        found = (
            {term: count for term, count in segment.words_with_prefix(start).items() if whole(term)}
            for segment in self._segments
        )
        return self._most_frequent(found, limit)

    def near(self, word: str, limit: int = 5) -> list[Word]:
        """Words that `word` may be a misspelling of, likeliest first, without `word` itself.

        One edit is allowed from 3 letters on, two from 6, three from 15; an edit swaps two neighbours, or
        adds, drops or changes a letter. A frequent word is preferred, and one with the same first letter.
        """
        distance = bisect_right(_LENGTHS, len(word))
        if not distance:
            return []
        apart: dict[str, int] = {}
        counts: Counter[str] = Counter()
        for segment in self._segments:
            for term, (edits, frequency) in segment.words.near(word, distance).items():
                apart[term] = edits
                counts[term] += frequency
        # The word itself is nearest to itself.
        counts.pop(word, None)

        def cost(term: str) -> tuple[float, str]:
            other_start = _OTHER_FIRST_LETTER if term[0] != word[0] else 0.0
            return apart[term] + other_start - _FREQUENCY_WORTH * math.log(1 + counts[term]), term

        return [Word(term, counts[term]) for term in sorted(counts, key=cost)[:limit]]

    def spellings(self, folded: str) -> list[str]:
        """A folded word, and the words of the index that differ from it only in accents and similar marks."""
        return [folded, *self._accented_terms.get(folded, ())]

    def containing(self, piece: str) -> list[str]:
        return [term for segment in self._segments for term in segment.words.containing(piece)]

    def words_with(self, piece: str) -> tuple[Word, ...]:
        """All words that contain the folded `piece` after their accents are removed. The first use joins all
        words into one text; a scan of 250,000 of them takes 2 to 4 ms of processor time."""
        return self._by_piece(piece)

    @cached_property
    def _accented_terms(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for segment in self._segments:
            for term in segment.words.beyond_ascii():
                if (folded := fold(term)) != term:
                    found.setdefault(folded, []).append(term)
        return found

    @staticmethod
    def _most_frequent(found: Iterable[Mapping[str, int]], limit: int) -> list[Word]:
        counts: Counter[str] = Counter()
        for words in found:
            counts.update(words)
        return [Word(*item) for item in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]]


def _words_with(segments: Sequence[WordSource], piece: str) -> tuple[Word, ...]:
    counts: Counter[str] = Counter()
    for segment in segments:
        counts.update(segment.words.words_with(piece))
    return tuple(Word(*item) for item in counts.items())


Letters = NDArray[np.uint64]
Numbers = NDArray[np.uint32]

LONGEST_WORD = 24
"""Longer words are neither corrected nor suggested."""

_LINE_BREAK = b"\n"
"""No term contains it."""

_AFTER_ALL = b"\xff"
"""No term in UTF-8 contains it."""

_ASCII = 128

_BLOCK = 65_536
"""The number of words scanned at once: the bits of their letters take about 5 MB."""


class SegmentWords:
    """Terms as written in some text, each with the largest document frequency of its fields.

    They are stored as the lines of one sorted text: as Python strings they would take six times as much
    memory.
    """

    def __init__(self, frequencies: Mapping[bytes, int]) -> None:
        """Takes terms in UTF-8, which sort in the order of their texts."""
        terms = sorted(frequencies)
        self._joined = JoinedTexts(terms, _LINE_BREAK)
        self._frequencies = np.array([frequencies[term] for term in terms], np.uint32)

    def load(self) -> None:
        """Computes in advance the data that `near` caches on its first call."""
        _ = self._signatures

    def frequency(self, term: str) -> int:
        """The frequency of a term; 0 for an unknown one."""
        wanted = term.encode()
        number = self._first_from(wanted)
        return int(self._frequencies[number]) if self._encoded(number) == wanted else 0

    def with_prefix(self, prefix: str) -> dict[str, int]:
        first, last = self._first_from(prefix.encode()), self._first_from(prefix.encode() + _AFTER_ALL)
        numbers = np.arange(first, last)
        return dict(zip(self._terms(numbers), self._frequencies[first:last].tolist(), strict=True))

    def to_bytes(self) -> bytes:
        text = bytes(self._joined.text)
        return b"".join([struct.pack("<Q", len(text)), text, self._frequencies.astype("<u4").tobytes()])

    @classmethod
    def from_bytes(cls, data: bytes) -> SegmentWords:
        """Raises struct.error or ValueError for bytes that `to_bytes` did not produce."""
        (size,) = struct.unpack_from("<Q", data)
        terms = data[8 : 8 + size].split(_LINE_BREAK)[:-1]
        frequencies = np.frombuffer(data[8 + size :], "<u4").tolist()
        return cls(dict(zip(terms, frequencies, strict=True)))

    def _first_from(self, wanted: bytes) -> int:
        """The number of the first term that does not sort before the given one."""
        return bisect_left(range(len(self._frequencies)), wanted, key=self._encoded)

    def _encoded(self, number: int) -> bytes:
        """A term in UTF-8; b"" after the last one."""
        ends = self._joined.ends
        if number >= len(ends):
            return b""
        return bytes(self._joined.text[ends[number - 1] + 1 if number else 0 : ends[number]])

    def near(self, word: str, distance: int) -> dict[str, tuple[int, int]]:
        """Terms within the Damerau-Levenshtein distance, each with its distance and frequency."""
        if len(word) > LONGEST_WORD:
            return {}
        letters, terms, firsts = self._signatures
        shortest, longest = max(len(word) - distance, 1), min(len(word) + distance, LONGEST_WORD)
        own = slice(firsts[shortest], firsts[longest + 1])
        (wanted,), _ = _signatures(word + "\n")
        # One edit changes at most two of the letters in a word.
        close = np.bitwise_count(letters[own] ^ wanted) <= 2 * distance
        numbers = np.sort(terms[own][close].astype(np.int64))
        candidates = self._terms(numbers)
        frequencies = self._frequencies[numbers].tolist()
        apart = edit_distances(word, candidates)
        return {
            term: (edits, frequency)
            for term, edits, frequency in zip(candidates, apart, frequencies, strict=True)
            if edits <= distance
        }

    def containing(self, piece: str) -> list[str]:
        """All terms that contain `piece`, in order."""
        return self._terms(_numbers_holding(self._joined, piece))

    def beyond_ascii(self) -> list[str]:
        """All terms with a non-ASCII letter, in order."""
        others = np.flatnonzero(np.frombuffer(self._joined.text, np.uint8) >= _ASCII)
        return self._terms(np.unique(self._ends().searchsorted(others)))

    def words_with(self, piece: str) -> dict[str, int]:
        """Terms that contain `piece` after folding, each with its frequency."""
        numbers = _numbers_holding(self._folded, piece)
        return dict(zip(self._terms(numbers), self._frequencies[numbers].tolist(), strict=True))

    def _terms(self, numbers: NDArray[np.int64]) -> list[str]:
        text, ends = self._joined.text, self._ends()
        starts = np.where(numbers > 0, ends[numbers - 1] + 1, 0)
        spans = zip(starts.tolist(), ends[numbers].tolist(), strict=True)
        return [text[start:end].decode() for start, end in spans]

    def _ends(self) -> NDArray[np.uint32]:
        return np.asarray(self._joined.ends, np.uint32)

    @cached_property
    def _folded(self) -> JoinedTexts[bytes]:
        return JoinedTexts(
            [fold(term).encode() for term in self._joined.text.decode().split("\n")[:-1]], _LINE_BREAK
        )

    @cached_property
    def _signatures(self) -> tuple[Letters, Numbers, list[int]]:
        """The letters of each term as a bit set, ordered by term length; the numbers of the terms in this
        order; and the start of each length in it. Terms that are too long have length 0."""
        letters, lengths = _signatures(self._joined.text.decode())
        by_length = np.argsort(lengths, kind="stable")
        firsts = lengths[by_length].searchsorted(np.arange(LONGEST_WORD + 2))
        return letters[by_length], by_length.astype(np.uint32), firsts.tolist()


def _numbers_holding(texts: JoinedTexts[bytes], piece: str) -> NDArray[np.int64]:
    return np.fromiter(texts.numbers_containing(piece.encode()), np.int64)


def _signatures(lines: str) -> tuple[Letters, Bytes]:
    """The letters of each line as a set of 64 bits (modulo 64), and its length, 0 beyond `LONGEST_WORD`. No
    line is empty."""
    points = np.frombuffer(lines.encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.flatnonzero(points == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    letters = np.zeros(len(ends), np.uint64)
    for first in range(0, len(ends), _BLOCK):
        own = slice(first, first + _BLOCK)
        begin = ends[first] - lengths[first]
        bits = np.uint64(1) << (points[begin : ends[own][-1] + 1] % 64).astype(np.uint64)
        # The line break after each term is not one of its letters.
        bits[ends[own] - begin] = 0
        letters[own] = np.bitwise_or.reduceat(bits, ends[own] - lengths[own] - begin)
    return letters, np.where(lengths > LONGEST_WORD, 0, lengths).astype(np.uint8)


def edit_distances(word: str, others: list[str]) -> list[int]:
    """Damerau-Levenshtein distances (optimal string alignment) of `word` to each of `others`, in one pass."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cdist

    distances: list[int] = cdist([word], others, scorer=OSA.distance, dtype=np.int32)[0].tolist()
    return distances
