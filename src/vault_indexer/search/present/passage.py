"""The parent expander: what is found is small, what is read may be the text around it.

Pure: a hit's span, the note's text and its headings in, a wider span of the same text out. The passage
always contains the hit, and holds no more than `max_parent_tokens` unless the hit alone does.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vault_indexer.chunk.cutting import Span, trim
from vault_indexer.model import ChunkRow, Heading, Passage
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.store.catalog import CatalogReader

ExpandMode = Literal["section", "window", "section_or_window", "parent"]

_BYTES_PER_TOKEN = 4
_MOST_CHARS_PER_TOKEN = 16
"""No text worth reading has longer tokens on average: what is longer than that need not be counted. A rule of
thumb."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Expansion:
    """How far a hit is widened.

    `section`: to the section it stands in, subsections included where they fit; of one that is too long as
    many paragraphs around the hit as fit. `window`: by so many paragraphs on each side, as far as they fit.
    `section_or_window`: the section if it fits, else the window. `parent`: to the chunk that its strategy
    calls its parent, whole; where that is no chunk, to the section that it ends in, without subsections, or
    to as many paragraphs of that as fit.
    """

    mode: ExpandMode
    max_parent_tokens: int = 2000
    window_paragraphs: int = 3


def estimated_tokens(text: str) -> int:
    """Four bytes of UTF-8 a token, rounded up: near what models count for English, more for other scripts."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def passage_of(
    catalog: CatalogReader,
    row: ChunkRow,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """The passage around a stored chunk, as its note was indexed."""
    chunk = row.chunk
    text, span = catalog.text(row.note_id), (chunk.start_pos, chunk.end_pos)
    if expansion.mode == "parent":
        if chunk.level == 0:
            return passage_at(text, span, "chunk", chunk.chunk_id)
        for one in catalog.chunks_of(row.note_id) if chunk.parent_id else ():
            if one.chunk.chunk_id == chunk.parent_id:
                whole = min(span[0], one.chunk.start_pos), max(span[1], one.chunk.end_pos)
                return passage_at(text, whole, "parent", chunk.parent_id)
    found = expand(text, catalog.headings(row.note_id), span, expansion, count)
    return replace(found, id=chunk.parent_id) if found.kind == "parent" else found


def expand(
    text: str,
    headings: Sequence[Heading],
    hit: Span,
    expansion: Expansion,
    count: Callable[[str], int] = estimated_tokens,
) -> Passage:
    """The passage around `hit`. `count` measures a text in tokens."""
    note = _Structure(text, [heading for heading in headings if not heading.nested])
    most = expansion.max_parent_tokens
    if expansion.mode == "parent":
        section = note.own_section(hit)
        if count(text[slice(*section)]) <= most:
            return passage_at(text, section, "parent")
        return _grow(note, hit, section, (most, len(text)), count)
    if expansion.mode != "window":
        sections = note.sections_around(hit)
        for section in sections:
            short = section[1] - section[0] <= _MOST_CHARS_PER_TOKEN * most
            if short and count(text[slice(*section)]) <= most:
                return passage_at(text, section, "section")
        if expansion.mode == "section":
            return _grow(note, hit, sections[-1], (most, len(text)), count)
    return _grow(note, hit, (note.body_start, len(text)), (most, expansion.window_paragraphs), count)


class _Structure:
    """The note's text, where its body begins, and its headings that make sections."""

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        self.text = text
        self.body_start = body_start(text)
        self._headings = headings
        self._starts = [heading.start for heading in headings]

    def sections_around(self, hit: Span) -> list[Span]:
        """The innermost section that contains the hit: with its subsections, then its own text alone."""
        level = 7
        for index in range(bisect_right(self._starts, hit[0]) - 1, -1, -1):
            if self._headings[index].level >= level:
                continue
            level = self._headings[index].level
            start, end, own = self._starts[index], self._end(index, level), self._end(index, 6)
            if hit[1] <= end:
                return [(start, end), *([(start, own)] if hit[1] <= own < end else [])]
        first = self._starts[0] if self._starts else len(self.text)
        return [(self.body_start, first if hit[1] <= first else len(self.text))]

    def own_section(self, hit: Span) -> Span:
        """The section in which the hit ends, without subsections, with all of the hit. The headings above a
        text are in the hit, and belong to the section of the text."""
        index = bisect_right(self._starts, max(hit[0], hit[1] - 1)) - 1
        start = self._starts[index] if index >= 0 else self.body_start
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return min(hit[0], start), max(hit[1], end)

    def paragraphs(self, low: int, high: int, hit: Span, reach: int) -> list[Span]:
        """Blocks between blank lines, code in fences whole, from `low` to `high`, no further from the hit
        than `reach` characters and on to the next heading: no fence reaches over a heading."""
        before = bisect_right(self._starts, max(hit[0] - reach, 0)) - 1
        after = bisect_left(self._starts, hit[1] + reach)
        start = max(low, self._starts[before] if before >= 0 else self.body_start)
        end = min(high, self._starts[after] if after < len(self._starts) else len(self.text))
        return _blocks(self.text, start, end)

    def _end(self, index: int, level: int) -> int:
        """Where the section at a heading ends: at the next one of at most this level."""
        following = range(index + 1, len(self._headings))
        return next((self._starts[n] for n in following if self._headings[n].level <= level), len(self.text))


def _grow(
    note: _Structure, hit: Span, within: Span, limits: tuple[int, int], count: Callable[[str], int]
) -> Passage:
    """The hit with paragraphs above and below it, in turn, as long as they fit; `limits` are tokens in all
    and paragraphs on each side. Tokens are added up by paragraphs."""
    most, each_side = limits
    start, end = hit
    blocks = note.paragraphs(*within, hit, _MOST_CHARS_PER_TOKEN * most)
    above = [block for block in reversed(blocks) if block[0] < start]
    below = [block for block in blocks if block[1] > end]
    # The rest of a paragraph that the hit is a part of is no paragraph of its own.
    above = above[: each_side + bool(above and above[0][1] > start)]
    below = below[: each_side + bool(below and below[0][0] < end)]
    held = count(note.text[start:end])
    sides = [iter((first, None) for first, _ in above), iter((None, last) for _, last in below)]
    while sides:
        for side in list(sides):
            first, last = next(side, (None, None))
            wider = start if first is None else first, end if last is None else last
            added = count(note.text[wider[0] : start]) + count(note.text[end : wider[1]])
            if wider == (start, end) or held + added > most:
                sides.remove(side)
                continue
            held += added
            start, end = wider
    return passage_at(note.text, (start, end), "chunk" if (start, end) == hit else "window")


def _blocks(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    fence = ""
    begin = stop = -1
    for match in _LINE.finditer(text, start, end):
        line = match.group()
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        if line.strip() or fence:
            begin = match.start() if begin < 0 else begin
            stop = match.start() + len(line.rstrip())
        elif begin >= 0:
            found.append((begin, stop))
            begin = -1
    return [*found, (begin, stop)] if begin >= 0 else found


def passage_at(text: str, span: Span, kind: str, name: str = "") -> Passage:
    """The text of a span, without blank lines around it unless it is that of a chunk."""
    start, end = span if kind == "chunk" else trim(text, *span)
    first = text.count("\n", 0, start) + 1
    return Passage(kind, start, end, first, first + text.count("\n", start, end), text[start:end], name)
