"""A note's text as it is written, and what a reader sees of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from vault_indexer.parse import ReadableText, code_blocks, link_labels, render_markdown
from vault_indexer.search.filters.matches import Span
from vault_indexer.search.filters.scopes import NoteText
from vault_indexer.search.filters.text_pattern import SearchedText

_BLANK_LINES = re.compile(r"\n\s*\n")
_MARKUP = re.compile(r"[*_~=`\[\]<>\\&%|^#\r\t]|  |[ \t]\n|(?:\A|\n)[ +:-]")
"""What a part has that is not shown as it is written, or the beginning of a list or rule."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?%%", re.DOTALL)


@dataclass(frozen=True)
class ShownPart:
    """What a reader sees of the source from `start` to `end`."""

    start: int
    end: int
    readable: ReadableText

    @cached_property
    def searched(self) -> SearchedText:
        """The text that is shown, for patterns to look through."""
        return SearchedText(self.readable.text)

    def shown(self, start: int, end: int) -> Span:
        """The part of the shown text that is between two places of the source."""
        return (
            self.readable.place(max(start, self.start) - self.start),
            self.readable.place(min(end, self.end) - self.start),
        )

    def source(self, span: Span) -> Span:
        """Where a part of the shown text is in the source."""
        return self.start + self.readable.source(span[0]), self.start + self.readable.source(span[1] - 1) + 1


class NoteSource(SearchedText):
    """The text of a note. What a reader sees is made of it part by part, from one blank line to another (code
    and comments are in one part), when it is asked for: that takes a hundred times as long as a look through
    its bytes."""

    def __init__(self, encoded: bytes, *, is_code: bool = False) -> None:
        """`is_code`: of a source file a reader sees everything."""
        super().__init__(encoded)
        self._is_code = is_code
        self._parts: dict[int, ShownPart] = {}

    @cached_property
    def text_start(self) -> int:
        """Where the text that is shown begins."""
        return NoteText(self.text).text_start

    def part_at(self, position: int) -> tuple[ShownPart, bool]:
        """The part with a character of the text, and whether it was rendered for that."""
        number = max(bisect_right(self._borders, position) - 1, 0)
        if number in self._parts:
            return self._parts[number], False
        start = self._borders[number]
        end = self._borders[number + 1] if number + 1 < len(self._borders) else len(self.text)
        source = self.text[start:end]
        has_markup = not self._is_code and _MARKUP.search(source) is not None
        readable = (
            render_markdown(source, labels=self._labels) if has_markup else ReadableText(source, [0], [0])
        )
        self._parts[number] = ShownPart(start, end, readable)
        return self._parts[number], has_markup

    @cached_property
    def _labels(self) -> frozenset[str]:
        return link_labels(self.text)

    @cached_property
    def _borders(self) -> list[int]:
        """Where the parts begin."""
        text, start = self.text, self.text_start
        if self._is_code:
            return [start]
        whole = [(first, last) for first, last, _ in code_blocks(text)]
        if "<!--" in text or "%%" in text:
            whole += [match.span() for match in _COMMENT.finditer(text)]
        whole.sort()
        borders, at, inside = [start], 0, 0
        for blank in _BLANK_LINES.finditer(text, start):
            while at < len(whole) and whole[at][0] < blank.end():
                inside = max(inside, whole[at][1])
                at += 1
            if blank.end() >= inside:
                borders.append(blank.end())
        return borders
