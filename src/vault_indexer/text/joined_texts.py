"""Many short texts joined by line breaks, so that one search looks through all of them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import AnyStr, Generic


class JoinedTexts(Generic[AnyStr]):
    """Texts, numbered from 0: `text` has them all, with a line break behind each. Any thread may use it.

    `ends` says where each text ends, in positions of `text`: there its line break stands. It takes 4 bytes a
    text, so all of them together have less than 4 GB. A text may have line breaks of its own.
    """

    def __init__(self, texts: Sequence[AnyStr], line_break: AnyStr) -> None:
        """`line_break` has the type of the texts: it is "\\n" or b"\\n"."""
        self._line_break: AnyStr = line_break
        ended = list(texts)
        ended.append(line_break[:0])  # so that the last one also has its line break
        self.text: AnyStr = line_break.join(ended)
        ends = accumulate((len(text) + 1 for text in texts), initial=-1)
        self.ends = array("I", islice(ends, 1, None))

    def numbers_containing(self, piece: AnyStr) -> Iterator[int]:
        """The numbers of the texts that hold a piece, ascending; each is looked for when it is asked for.

        No text counts as holding a piece with a line break; every text holds an empty piece.
        """
        if self._line_break in piece:
            return
        start = 0
        while start < len(self.text) and (at := self.text.find(piece, start)) >= 0:
            number = bisect_left(self.ends, at)
            yield number
            start = self.ends[number] + 1
