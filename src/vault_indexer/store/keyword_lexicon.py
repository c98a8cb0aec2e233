"""The words of the index: completion of a prefix, wildcards, and corrections of a misspelt word."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import translate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_indexer.store.keyword_segment import SegmentData


class Word(NamedTuple):
    """An index term as written in some text, and how many documents hold it (at least; by field)."""

    term: str
    frequency: int


class Lexicon:
    """Over the segments of one snapshot. The first use reads the words (about 1 µs each, kept by segment)."""

    def __init__(self, segments: Sequence[SegmentData]) -> None:
        self._segments = segments

    def load(self) -> None:
        """Reads the words of all segments that have not been read yet."""
        for segment in self._segments:
            len(segment.words.terms)

    def with_prefix(self, prefix: str, limit: int) -> list[Word]:
        """The `limit` most frequent words that begin with `prefix` (itself too)."""
        counts: Counter[str] = Counter()
        for segment in self._segments:
            found = segment.words
            first = bisect_left(found.terms, prefix)
            last = bisect_left(found.terms, prefix + "\U0010ffff")
            counts.update(dict(zip(found.terms[first:last], found.frequencies[first:last], strict=True)))
        return _most_frequent(counts, limit)


def _most_frequent(counts: Counter[str], limit: int) -> list[Word]:
    return [Word(*item) for item in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]]
