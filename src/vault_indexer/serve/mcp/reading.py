"""Selects the part of a note that an agent requests: a heading's section, lines, and pages of either."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from vault_indexer.errors import UsageError
from vault_indexer.model import NoteHeading, NoteOutline, NotePart, NoteText
from vault_indexer.parse import Anchors
from vault_indexer.serve.mcp.budget import PAGE_TOKENS, tokens_of

TEXT_TOKENS = PAGE_TOKENS - 100
"""The limit for the text of a page, beside its place in the note."""

_NAME_CHARS = 60
_NAMED = 20
"""The maximum number of headings in a message."""

_HEADING_TOKENS = 1_200
"""The limit for the headings on the first page of a long note."""

_TOKENS_BESIDE_HEADING = 14
"""The overhead of a heading in JSON: its keys, its line, its marks."""

_HEADING_LINE = re.compile(r"^#{1,6} ", re.MULTILINE)


def section_of(outline: NoteOutline, heading: str) -> tuple[int, int]:
    """The span from a heading to the next one of its level or above, like a link to the heading.

    Raises UsageError for a missing heading, with a list of the existing ones.
    """
    found = Anchors(outline.headings, ()).find(heading.lstrip("# "), slugs=True)
    if found.start is None:
        wanted = heading.rpartition("#")[2].strip().casefold()
        names = [repr(one.text[:_NAME_CHARS]) for one in outline.headings]
        names.sort(key=lambda name: wanted not in name.casefold())
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise UsageError(
            f"{found.problem or 'no heading is named'}: {outline.path} has the headings "
            f"{', '.join(names[:_NAMED]) or 'none'}{more}"
        )
    own = next(one for one in outline.headings if one.start == found.start)
    after = (one.start for one in outline.headings if one.start > own.start and one.level <= own.level)
    return own.start, next(after, len(outline.text))


def lines_of(text: str, first: int, last: int | None) -> tuple[int, int]:
    """The span of a range of lines, inclusive; None means to the end. Raises UsageError for lines that the
    note does not have."""
    starts = _line_starts(text)
    if first > len(starts):
        raise UsageError(f"start_line = {first}: the note has {len(starts)} lines")
    if last is not None and last < first:
        raise UsageError(f"end_line = {last}: it is before start_line = {first}")
    return starts[first - 1], len(text) if last is None or last >= len(starts) else starts[last]


def beginning_of(
    note: NoteText, outline: NoteOutline, span: tuple[int, int], tokens: int = TEXT_TOKENS
) -> NotePart:
    """The first page of a span of the note. If there are more pages, it begins with the headings of the span
    as indexed, each of which can be requested separately."""
    part = part_of(note, span, 0, tokens)
    if not part.next_offset:
        return part
    headings: list[NoteHeading] = []
    most = room = min(_HEADING_TOKENS, tokens // 3)
    for one in outline.headings:
        if span[0] <= one.start < span[1] and not one.nested:
            heading = NoteHeading(one.text[:_NAME_CHARS], one.line)
            room -= tokens_of(heading.heading) + _TOKENS_BESIDE_HEADING
            if room < 0:
                break
            headings.append(heading)
    shorter = part_of(note, span, 0, tokens - most + max(0, room))
    return replace(shorter, headings=tuple(headings))


def part_of(note: NoteText, span: tuple[int, int], offset: int, tokens: int = TEXT_TOKENS) -> NotePart:
    """The page of a span of the note that begins at its character `offset` and has at most `tokens` tokens.
    Raises UsageError for an offset beyond its end."""
    text = note.text
    starts = _line_starts(text)
    begin, end = span[0] + offset, span[1]
    if offset and begin >= end:
        raise UsageError(f"offset = {offset}: the part has {end - begin + offset} characters")
    stop = begin + page_length(text[begin:end], tokens)
    return NotePart(
        path=note.path,
        start_line=bisect_right(starts, begin),
        end_line=max(bisect_right(starts, begin), bisect_right(starts, stop - 1)),
        total_lines=len(starts),
        text=text[begin:stop],
        modified_time=note.modified_time,
        next_offset=offset + stop - begin if stop < end else 0,
    )


def page_length(text: str, tokens: int = TEXT_TOKENS) -> int:
    """The number of characters in a page of at most `tokens` tokens: up to the last heading in its second
    half, else up to the last line break that fits, else as many as fit."""
    low, high = 0, len(text)
    # Seven letters and a space are one token. Only a text of many spaces has more characters.
    if tokens_of(text[: 8 * tokens]) <= tokens and high <= 8 * tokens:
        return high
    high = min(high, 8 * tokens)
    while low < high:  # the estimate increases with the text
        middle = (low + high + 1) // 2
        if tokens_of(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    heading = max((one.start() for one in _HEADING_LINE.finditer(text[:low])), default=0)
    if 2 * heading > low:
        return heading
    return text.rfind("\n", 0, low) + 1 or low


_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_MORE_LINES = 2
"""Further lines of a chunk that an excerpt shows because they contain words of the query."""


def excerpt(text: str, focus: int, words: Collection[str], chunk: tuple[int, int], tokens: int) -> str:
    """The part of a note, as written, that is shown to an agent for a hit.

    It contains the line `focus` of the match and the lines of the chunk with other `words` of the query, the
    item above a nested one and the header of a table, and as many of the lines around it as fit into
    `tokens`. `chunk` are the first and the last line of the hit. "…" marks omitted lines.
    """
    lines = text.split("\n")
    at = min(max(focus - 1, 0), len(lines) - 1)
    if tokens_of(lines[at]) > tokens:
        return _part_of_line(lines[at], words, tokens)
    found = _Excerpt(lines, at, tokens)
    found.explain()
    held = _words_in(lines[at], words)
    own = range(chunk[0] - 1, min(chunk[1], len(lines)))
    others = sorted((-len(_words_in(lines[number], words) - held), number) for number in own)
    for missing, number in others[:_MORE_LINES]:
        if missing:
            found.add(number)
    found.explain()
    found.grow(at)
    return found.text()


class _Excerpt:
    """Lines of a note, within a limit of tokens."""

    def __init__(self, lines: Sequence[str], at: int, tokens: int) -> None:
        self._lines = lines
        self._room = tokens - tokens_of(lines[at])
        self._shown = {at}

    def add(self, number: int) -> bool:
        """Adds a line if it fits; whether the excerpt contains it."""
        cost = tokens_of(self._lines[number]) + 1
        if number not in self._shown and cost <= self._room:
            self._shown.add(number)
            self._room -= cost
        return number in self._shown

    def explain(self) -> None:
        for number in sorted(self._shown):
            for above in _lines_that_explain(self._lines, number):
                self.add(above)

    def grow(self, at: int) -> None:
        """Adds the lines below and above a line, two below for each above, as long as they fit."""
        reached = {1: at, -1: at}
        while reached:
            for step in (1, 1, -1):
                if step not in reached:
                    continue
                number = reached.pop(step) + step
                if not 0 <= number < len(self._lines):
                    continue
                ends_properties = self._lines[number].rstrip() == "---" and self._lines[0].startswith("---")
                if not ends_properties and self.add(number):
                    reached[step] = number

    def text(self) -> str:
        parts: list[str] = []
        before = -1
        for number in sorted(self._shown):
            if parts and any(self._lines[between].strip() for between in range(before + 1, number)):
                parts.append("…")
            if self._lines[number].strip() or (parts and parts[-1] not in ("", "…")):
                parts.append(self._lines[number].rstrip())
            before = number
        return "\n".join(parts).rstrip()


def _lines_that_explain(lines: Sequence[str], number: int) -> Iterator[int]:
    """The items above a nested item, and the header of a table above its row."""
    line = lines[number]
    if line.lstrip(" \t>").startswith("|"):
        above = number
        while above > 0 and lines[above - 1].lstrip(" \t>").startswith("|"):
            above -= 1
        yield from (one for one in (above, above + 1) if one < number and lines[above + 1 : above + 2])
        return
    depth = len(line) - len(line.lstrip(" \t"))
    for above in range(number - 1, -1, -1):
        indent = len(lines[above]) - len(lines[above].lstrip(" \t"))
        if depth == 0 or not lines[above].strip():
            return
        if indent < depth and _LIST_ITEM.match(lines[above]):
            yield above
            depth = indent


def _words_in(line: str, words: Collection[str]) -> set[str]:
    folded = line.casefold()
    return {word for word in words if word in folded}


def _part_of_line(line: str, words: Collection[str], tokens: int) -> str:
    """About `tokens` tokens of a long line, with as many of the words as possible."""
    chars = max(40, int(tokens * len(line) / tokens_of(line)))
    folded = line.casefold()
    places = [place for word in words if (place := folded.find(word)) >= 0] or [0]
    starts = [max(0, min(place - chars // 4, len(line) - chars)) for place in places]
    begin = max(starts, key=lambda at: (len(_words_in(line[at : at + chars], words)), -at))
    cut = line[begin : begin + chars]
    if begin:
        cut = "…" + (cut.partition(" ")[2] or cut)
    if begin + chars < len(line):
        cut = (cut.rpartition(" ")[0] or cut) + "…"
    return cut


def _line_starts(text: str) -> list[int]:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()  # the line break at the end of the last line starts no line
    return starts
