"""A place in a note shown on one line, as written."""

from __future__ import annotations

import re
from typing import NamedTuple

_SIZE = 160
_ELLIPSIS = "…"
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"[\r\n]")


class Excerpt(NamedTuple):
    """The text, and in it the span of what it was made for."""

    text: str
    mark: tuple[int, int]


def excerpt(text: str, start: int, end: int) -> Excerpt:
    """The line of `text[start:end]`, without its indentation; of a long one about 160 characters around."""
    first = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    stop = _LINE_END.search(text, end)
    last = stop.start() if stop else len(text)
    while first < start and text[first].isspace():
        first += 1
    left, right = (first, last) if last - first <= _SIZE else _window(text, (first, start, end, last))
    before = _ELLIPSIS if left > first else ""
    after = _ELLIPSIS if right < last else ""
    shown = _SPACE.sub(" ", text[left:right].rstrip())
    at = len(before) + start - left
    return Excerpt(before + shown + after, (at, at + end - start))


def _window(text: str, line: tuple[int, int, int, int]) -> tuple[int, int]:
    """What of a long line to show: `line` is its start, those of the place in it, and its end."""
    first, start, end, last = line
    left = max(first, start - max(0, _SIZE - (end - start)) // 2)
    if left > first:
        left = _word_start(text, left, start)
    right = min(last, max(end, left + _SIZE))
    return left, right if right == last else _word_end(text, end, right)


def _word_start(text: str, offset: int, limit: int) -> int:
    """The next place after `offset`, up to `limit`, at which a word begins."""
    space = text.find(" ", offset, min(limit, offset + 20))
    return offset if space < 0 else space + 1


def _word_end(text: str, limit: int, offset: int) -> int:
    """The last place before `offset`, down to `limit`, at which a word ends."""
    space = text.rfind(" ", max(limit, offset - 20), offset)
    return offset if space < 0 else space
