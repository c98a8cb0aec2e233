"""Joins many short texts by line breaks, so that one search covers all of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import AnyStr, Generic


class JoinedTexts(Generic[AnyStr]):
    """Texts, numbered from 0. `text` contains all of them, each followed by a line break. Any thread may use
    it.

    `ends` contains the position in `text` of the line break after each text. It takes 4 bytes for each, so
    all texts together are limited to 4 GB. A text may contain line breaks.
    """

    def __init__(self, texts: Sequence[AnyStr], line_break: AnyStr) -> None:
        """`line_break` is "\\n" or b"\\n", according to the type of the texts."""
        self._line_break: AnyStr = line_break
        ended = list(texts)
        ended.append(line_break[:0])  # so that the last one also has its line break
        self.text: AnyStr = line_break.join(ended)
        ends = accumulate((len(text) + 1 for text in texts), initial=-1)
        self.ends = array("I", islice(ends, 1, None))

    def numbers_containing(self, piece: AnyStr) -> Iterator[int]:
        """Yields, lazily and in ascending order, the numbers of the texts that contain a piece.

        No text counts as containing a piece with a line break. Every text contains the empty piece.
        """
        if self._line_break in piece:
            return
        start = 0
        while start < len(self.text) and (at := self.text.find(piece, start)) >= 0:
            number = bisect_left(self.ends, at)
            yield number
            start = self.ends[number] + 1
