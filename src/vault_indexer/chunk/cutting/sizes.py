"""Measuring text in characters, words or tokens, in logarithmic time a measurement."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Protocol

from vault_indexer.chunk.cutting.spans import Span, hard_splits, safe_split, trim
from vault_indexer.config.chunking_fields import SizeUnit
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

    def size(self, start: int, end: int) -> int:
        """How much a chunk of this span would hold."""
        ...

    def reach(self, start: int, size: int) -> int:
        """The furthest position so that start to there holds no more than `size`."""
        ...

    def back(self, end: int, size: int) -> int:
        """The earliest position so that from there to `end` holds no more than `size`."""
        ...

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Touching spans of at most `limit`, wherever the borders fall."""
        ...


class Characters:
    """Sizes in characters; blank lines around a span do not count."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, pos: int) -> int:
        """The position itself."""
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
        return end if size == 0 else self._starts[index] if index > 0 else 0

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of `limit` units; a border moves back rather than split a character seen as one."""
        spans: list[Span] = []
        while start < end:
            cut = min(self.reach(start, limit), end)
            if cut < end:
                cut = safe_split(self._text, start, cut)
            spans.append((start, cut))
            start = cut
        return spans


def ruler_for(text: str, unit: SizeUnit, tokenizer: Tokenizer | None) -> Ruler:
    """The ruler of a unit. Raises UsageError for tokens without a tokenizer."""
    if unit == "characters":
        return Characters(text)
    if unit == "words":
        return Marks(text, [match.start() for match in _WORD.finditer(text)])
    return token_ruler(text, tokenizer)


def token_ruler(text: str, tokenizer: Tokenizer | None) -> Marks:
    """Sizes in tokens of the whole text: a part alone may come out a token or two larger at its edges."""
    if tokenizer is None:
        raise UsageError(
            "size_unit = tokens needs a tokenizer, and the embedding model has none: use words or characters"
        )
    starts = []
    for start, end in tokenizer.offsets(text):
        # Some tokenizers count the space before a word as its own.
        while start < end and text[start].isspace():
            start += 1
        if start < end:
            starts.append(start)
    return Marks(text, starts)
