"""Where a note is prose: outside links, code, tags, HTML, math and frontmatter."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from vault_indexer.parse.blocks import Leaf, LeafKind, scan_blocks
from vault_indexer.parse.frontmatter import read_frontmatter
from vault_indexer.parse.inline import InlineScan, SpanKind
from vault_indexer.parse.link_syntax import link_definitions

_BEFORE_URL = 300
_DEFINITION = re.compile(r"^[ >]*(\[[^\]\r\n]+\]:.*(?:\n[ >]*\S+)?)", re.MULTILINE)


@dataclass(slots=True)
class _Section:
    """The inline leaves from one heading to the next, and what in them is not prose, once looked for."""

    leaves: list[Leaf]
    spans: dict[Leaf, list[tuple[int, int]]] = field(default_factory=dict)


class Prose:
    """The prose of one text, by the parser's own reading of it.

    Only the wanted sections are parsed: a heading of the document ends every block before it, so a
    section reads alone as it does within the note. `headings` are the positions of those headings, `links`
    the spans of links that are known already.
    """

    def __init__(self, text: str, headings: Collection[int], links: Collection[tuple[int, int]]) -> None:
        self._text = text
        self._headings = sorted(headings)
        self._links = links
        self._sections: dict[int, _Section] = {}

    def holds(self, start: int, end: int) -> bool:
        """Whether all of `text[start:end]` is prose, and no part of a bare URL."""
        if any(first < end and start < last for first, last in self._links) or self._is_in_url(start):
            return False
        section = self._section_at(start)
        at = bisect_right(section.leaves, start, key=lambda leaf: leaf.start) - 1
        if at < 0 or end > section.leaves[at].end:
            return False
        return not any(
            first < end and start < last for first, last in self._spans(section, section.leaves[at])
        )

    def _section_at(self, position: int) -> _Section:
        number = bisect_right(self._headings, position)
        if number not in self._sections:
            after = self._headings[number : number + 1]
            start = self._headings[number - 1] if number else read_frontmatter(self._text).block_end
            leaves = scan_blocks(self._text, start, after[0] if after else len(self._text)).leaves
            self._sections[number] = _Section(
                sorted(leaf for leaf in leaves if leaf.kind is not LeafKind.HTML)
            )
        return self._sections[number]

    def _spans(self, section: _Section, leaf: Leaf) -> list[tuple[int, int]]:
        if leaf not in section.spans:
            found = InlineScan(self._text, leaf.start, leaf.end, self._definitions).spans()
            section.spans[leaf] = [
                (span.start, span.end) for span in found if span.kind is not SpanKind.ESCAPE
            ]
        return section.spans[leaf]

    @cached_property
    def _definitions(self) -> Mapping[str, str]:
        """Link reference definitions can stand anywhere in a note."""
        if "]:" not in self._text:
            return {}
        return link_definitions(self._text, [match.span(1) for match in _DEFINITION.finditer(self._text)])

    def _is_in_url(self, start: int) -> bool:
        before = self._text[max(0, start - _BEFORE_URL) : start]
        return not before[-1:].isspace() and "://" in (before.split() or [""])[-1]
