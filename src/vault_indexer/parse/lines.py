"""Line numbers of character offsets."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate

LARGE = 1_000_000
LINE_BREAK = re.compile(r"\r\n?|\n")


class Lines:
    """1-based line numbers; `\\n`, `\\r\\n` and a lone `\\r` each end a line, as CommonMark has it."""

    def __init__(self, text: str) -> None:
        # An array, as a note can have millions of lines.
        if "\r" in text or len(text) > LARGE:
            self._starts = array("I", [0])
            self._starts.extend(match.end() for match in LINE_BREAK.finditer(text))
        else:  # several times faster, and what most notes are
            self._starts = array("I", accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
            self._starts.pop()

    def at(self, position: int) -> int:
        """The line in which the character at `position` stands."""
        return bisect_right(self._starts, position)
