"""The words of the index: completion of a prefix, wildcards, and corrections of a misspelt word."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from vault_indexer.text.fold import fold

if TYPE_CHECKING:
    from vault_indexer.store.keywords.segment_words import SegmentWords

_WILD = re.compile(r"[*?]")
_FREQUENCY_WORTH = 0.15
_PIECES = 256
_LENGTHS = (3, 6, 15)
"""The least letters of a word for one, two and three edits. Rules of thumb."""

_OTHER_FIRST_LETTER = 0.3
"""Of two spellings that are equally near the more frequent one, and the one with the same first letter, is
likelier. Rules of thumb."""


class Word(NamedTuple):
    """An index term as written in some text, and how many documents hold it (a lower bound)."""

    term: str
    frequency: int


class WordSource(Protocol):
    """What a lexicon reads: a segment, or the vocabulary of a vault."""

    @property
    def words(self) -> SegmentWords:
        """All terms as written; the first use may take long."""
        ...

    @property
    def has_read_words(self) -> bool:
        """Whether `words` are there without a wait."""
        ...

    def words_with_prefix(self, prefix: str) -> dict[str, int]:
        """Terms as written that begin so, with their frequencies."""
        ...

    def frequent_words(self, limit: int) -> dict[str, int]: ...


class Lexicon:
    """Over the segments of one snapshot. The first use of `near` reads all words; segments keep them."""

    def __init__(self, segments: Sequence[WordSource]) -> None:
        self._segments = segments
        # Who types a query asks for its first words again and again.
        self._by_piece = lru_cache(maxsize=_PIECES)(self._with_piece)

    def load(self) -> None:
        """Reads what has not been read yet, so that the next call is quick."""
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
        """How many segments `load` would read."""
        return sum(not segment.has_read_words for segment in self._segments)

    @property
    def is_partly_read(self) -> bool:
        """Whether a commit or a merge has added segments since the words of the others were read."""
        return 0 < self.unread_segments < len(self._segments)

    def with_prefix(self, prefix: str, limit: int) -> list[Word]:
        """The `limit` most frequent words that begin with `prefix`, itself among them."""
        return self._most_frequent((segment.words_with_prefix(prefix) for segment in self._segments), limit)

    def frequent(self, limit: int) -> list[Word]:
        """About the `limit` most frequent words: one that is seldom in most segments may be missing. Much
        faster than `with_prefix("", limit)`, which reads all words."""
        return self._most_frequent((segment.frequent_words(2 * limit) for segment in self._segments), limit)

    def matching(self, pattern: str, limit: int) -> list[Word]:
        """The `limit` most frequent words that match a pattern with `*` (any characters) and `?` (one)."""
        start = _WILD.split(pattern, maxsplit=1)[0]
        whole = re.compile(translate(pattern.replace("[", "[[]"))).match
        found = (
            {term: count for term, count in segment.words_with_prefix(start).items() if whole(term)}
            for segment in self._segments
        )
        return self._most_frequent(found, limit)

    def near(self, word: str, limit: int = 5) -> list[Word]:
        """Words that `word` may be a misspelling of, likeliest first; not itself.

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
        counts.pop(word, None)

        def cost(term: str) -> tuple[float, str]:
            other_start = _OTHER_FIRST_LETTER if term[0] != word[0] else 0.0
            return apart[term] + other_start - _FREQUENCY_WORTH * math.log(1 + counts[term]), term

        return [Word(term, counts[term]) for term in sorted(counts, key=cost)[:limit]]

    def spellings(self, folded: str) -> list[str]:
        """A folded word, and the words of the index that only accents and the like set apart from it."""
        return [folded, *self._accented_terms.get(folded, ())]

    def containing(self, piece: str) -> list[str]:
        """All words with `piece` anywhere in them."""
        return [term for segment in self._segments for term in segment.words.containing(piece)]

    def words_with(self, piece: str) -> tuple[Word, ...]:
        """All words with the folded `piece` in them once their accents are off. The first use writes all
        words into one text; 250,000 of them are looked through in 2 to 4 ms of processor time."""
        return self._by_piece(piece)

    def _with_piece(self, piece: str) -> tuple[Word, ...]:
        counts: Counter[str] = Counter()
        for segment in self._segments:
            counts.update(segment.words.words_with(piece))
        return tuple(Word(*item) for item in counts.items())

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
