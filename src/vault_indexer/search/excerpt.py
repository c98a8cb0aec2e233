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
    room = max(0, _SIZE - (end - start))
    left = first if start - first <= room // 2 else _word_start(text, max(first, start - room // 2), start)
    right = last if last - left <= _SIZE else _word_end(text, end, min(last, max(end, left + _SIZE)))
    before = _ELLIPSIS if left > first else ""
    after = _ELLIPSIS if right < last else ""
    shown = _SPACE.sub(" ", text[left:right].rstrip())
    at = len(before) + start - left
    return Excerpt(before + shown + after, (at, at + end - start))


def _word_start(text: str, at: int, limit: int) -> int:
    """The next place after `at`, up to `limit`, at which a word begins."""
    space = text.find(" ", at, min(limit, at + 20))
    return at if space < 0 else space + 1


def _word_end(text: str, limit: int, at: int) -> int:
    """The last place before `at`, down to `limit`, at which a word ends."""
    space = text.rfind(" ", max(limit, at - 20), at)
    return at if space < 0 else space
