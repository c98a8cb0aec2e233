"""Measuring text in characters, words or tokens, in logarithmic time a measurement."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Protocol

from vault_indexer.chunk.cutting.spans import Span, hard_splits, safe_split, trim
from vault_indexer.config.tables.chunking_options import SizeUnit
from vault_indexer.errors import UsageError
from vault_indexer.ports import Tokenizer

# Han and kana are written without spaces: there a character counts as a word.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]+")


class Ruler(Protocol):
    """Sizes of spans of one text; `size` never exceeds `at(end) - at(start)`, which only grows."""

    def at(self, pos: int) -> int:
        """How much begins before `pos`."""
        ...

    def size(self, start: int, end: int) -> int: ...

    def reach(self, start: int, size: int) -> int:
        """The furthest position so that start to there holds no more than `size`."""
        ...

    def back(self, end: int, size: int) -> int:
        """The earliest position so that from there to `end` holds no more than `size`."""
        ...

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Touching spans of at most `limit`, wherever the borders fall."""
        ...

    def room(self, limit: int) -> int:
        """The size up to which to cut, so that a chunk counted by itself is within `limit`."""
        ...


class Characters:
    """Sizes in characters; blank lines around a span do not count."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, pos: int) -> int:
        return pos

    def size(self, start: int, end: int) -> int:
        """Characters of the span as a chunk would keep it."""
        start, end = trim(self._text, start, end)
        return end - start

    def reach(self, start: int, size: int) -> int:
        """That many characters on."""
        return min(start + size, len(self._text))

    def back(self, end: int, size: int) -> int:
        """That many characters before."""
        return max(end - size, 0)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of nearly equal length between whole characters."""
        return hard_splits(self._text, start, end, limit)

    def room(self, limit: int) -> int:
        return limit


class Marks:
    """Sizes in units whose starts are given: words or tokens."""

    def __init__(self, text: str, starts: list[int]) -> None:
        self._text = text
        self._starts = starts

    def at(self, pos: int) -> int:
        """Units that begin before `pos`."""
        return bisect_left(self._starts, pos)

    def size(self, start: int, end: int) -> int:
        """Units that begin in the span."""
        return self.at(end) - self.at(start)

    def reach(self, start: int, size: int) -> int:
        """The start of the unit that no longer fits."""
        index = self.at(start) + size
        return self._starts[index] if index < len(self._starts) else len(self._text)

    def back(self, end: int, size: int) -> int:
        """The start of the first unit that fits."""
        index = self.at(end) - size
        if size == 0 or index <= 0:
            return end if size == 0 else 0
        start = self._starts[index]
        # A character of several tokens is their common start: it fits only with all of them.
        return start if self._starts[index - 1] < start else self._after(start, end)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of `limit` units; a border moves back rather than split a character seen as one."""
        spans: list[Span] = []
        while start < end:
            cut = max(min(self.reach(start, limit), end), start + 1)
            if cut < end:
                cut = safe_split(self._text, start, cut)
            spans.append((start, cut))
            start = cut
        return spans

    def room(self, limit: int) -> int:
        return limit

    def _after(self, start: int, end: int) -> int:
        index = bisect_right(self._starts, start)
        return min(self._starts[index], end) if index < len(self._starts) else end


class Tokens(Marks):
    """Sizes in the tokens of a whole text. A part of it by itself may count a few more at its edges: `count`
    tells, and `cutting.fitting` sees to it that no chunk is over its limit.
    """

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        super().__init__(text, [_text_start(text, *span) for span in tokenizer.offsets(text)])
        self._tokenizer = tokenizer

    def size(self, start: int, end: int) -> int:
        """Tokens of the span as a chunk would keep it, without blank lines around it."""
        start, end = trim(self._text, start, end)
        return self.at(end) - self.at(start)

    def count(self, text: str) -> int:
        return len(self._tokenizer.offsets(text))

    def room(self, limit: int) -> int:
        """The limit less what the tokenizer puts in front of any text."""
        return max(limit - self._prefix, 1)

    @cached_property
    def _prefix(self) -> int:
        return max(2 * self.count(_PROBE) - self.count(_PROBE * 2), 0)


_PROBE = "漢\n"
"""A word that no tokenizer joins to the next."""


def _text_start(text: str, start: int, end: int) -> int:
    """Where the token's first character stands that is not blank: some tokenizers count the space before a
    word as the word's own. A token that is all blank, or a part of a character, begins where it begins.
    """
    for pos in range(start, end):
        if not text[pos].isspace():
            return pos
    return start


def ruler_for(text: str, unit: SizeUnit, tokenizer: Tokenizer | None) -> Ruler:
    """The ruler of a unit. Raises UsageError for tokens without a tokenizer."""
    if unit == "characters":
        return Characters(text)
    if unit == "words":
        return Marks(text, [match.start() for match in _WORD.finditer(text)])
    return token_ruler(text, tokenizer)


def token_ruler(text: str, tokenizer: Tokenizer | None) -> Tokens:
    """Sizes in tokens. Raises UsageError without a tokenizer."""
    if tokenizer is None:
        raise UsageError(
            "size_unit = tokens needs a tokenizer, and the embedding model has none: use words or characters"
        )
    return Tokens(text, tokenizer)
