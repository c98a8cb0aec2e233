"""Measures text in characters, words or tokens. Each measurement takes logarithmic time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Protocol

from vault_indexer.chunk.cutting.spans import Span, hard_splits, safe_split, trim
from vault_indexer.config.tables.chunking_options import SizeUnit
from vault_indexer.errors import UsageError
from vault_indexer.ports import Tokenizer

# Han and kana are written without spaces, so each character counts as a word.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]+")


class Ruler(Protocol):
    """Sizes of spans of one text; `size` never exceeds `at(end) - at(start)`, and `at` never decreases."""

    def at(self, pos: int) -> int:
        """The number of units that begin before `pos`."""
        ...

    def size(self, start: int, end: int) -> int: ...

    def reach(self, start: int, size: int) -> int:
        """The last position for which start to there contains at most `size`."""
        ...

    def back(self, end: int, size: int) -> int:
        """The first position for which there to `end` contains at most `size`."""
        ...

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Touching spans of at most `limit`, with borders at any position."""
        ...

    def room(self, limit: int) -> int:
        """The size for cutting that keeps a chunk within `limit` when it is measured separately."""
        ...


class Characters:
    """Sizes in characters; blank lines around a span do not count."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, pos: int) -> int:
        return pos

    def size(self, start: int, end: int) -> int:
        """The characters of the span as a chunk would store it."""
        start, end = trim(self._text, start, end)
        return end - start

    def reach(self, start: int, size: int) -> int:
        """The position `size` characters after `start`."""
        return min(start + size, len(self._text))

    def back(self, end: int, size: int) -> int:
        """The position `size` characters before `end`."""
        return max(end - size, 0)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of nearly equal length between whole characters."""
        return hard_splits(self._text, start, end, limit)

    def room(self, limit: int) -> int:
        return limit


class Marks:
    """Sizes in units with given starts: words or tokens."""

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
        # The tokens of a multi-token character share one start: the character fits only with all of them.
        return start if self._starts[index - 1] < start else self._after(start, end)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of `limit` units; a border moves back rather than split a visible character."""
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
    """Sizes in the tokens of a whole text. A part measured separately may have a few more at its edges:
    `count` returns the exact number, and `assemble.fit` ensures that no chunk exceeds its limit."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        super().__init__(text, [_text_start(text, *span) for span in tokenizer.offsets(text)])
        self._tokenizer = tokenizer

    def size(self, start: int, end: int) -> int:
        """The tokens of the span as a chunk would store it, without surrounding blank lines."""
        start, end = trim(self._text, start, end)
        return self.at(end) - self.at(start)

    def count(self, text: str) -> int:
        return len(self._tokenizer.offsets(text))

    def room(self, limit: int) -> int:
        """The limit minus the tokens that the tokenizer adds before any text."""
        return max(limit - self._prefix, 1)

    @cached_property
    def _prefix(self) -> int:
        return max(2 * self.count(_PROBE) - self.count(_PROBE * 2), 0)


_PROBE = "漢\n"
"""A word that no tokenizer joins to the next one."""


def _text_start(text: str, start: int, end: int) -> int:
    """The position of the token's first non-blank character: some tokenizers include the space before a word
    in the token. A token that is all blank, or a part of a character, keeps its own start."""
    for pos in range(start, end):
        if not text[pos].isspace():
            return pos
    return start


def ruler_for(text: str, unit: SizeUnit, tokenizer: Tokenizer | None) -> Ruler:
    """The ruler for a unit. Raises UsageError for tokens without a tokenizer."""
    if unit == "characters":
        return Characters(text)
    if unit == "words":
        return Marks(text, [match.start() for match in _WORD.finditer(text)])
    return token_ruler(text, tokenizer)


def token_ruler(text: str, tokenizer: Tokenizer | None) -> Tokens:
    """A ruler for tokens. Raises UsageError without a tokenizer."""
    if tokenizer is None:
        raise UsageError(
            "size_unit = tokens needs a tokenizer, and the embedding model has none: use words or characters"
        )
    return Tokens(text, tokenizer)
