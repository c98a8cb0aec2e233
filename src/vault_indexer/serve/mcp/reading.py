"""Selects the part of a note that an agent requests: a heading's section, lines, and pages of either."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from vault_indexer.errors import UsageError
from vault_indexer.model import NoteHeading, NoteOutline, NotePart, NoteText
from vault_indexer.parse import Anchors
from vault_indexer.serve.mcp.budget import tokens_of

TEXT_TOKENS = 3_000
"""The limit for the text of a page. JSON writes a line break and a quotation mark as two characters, so some
room is left."""

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
        names = [repr(one.text[:_NAME_CHARS]) for one in outline.headings]
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


def beginning_of(note: NoteText, outline: NoteOutline, span: tuple[int, int]) -> NotePart:
    """The first page of a span of the note. If there are more pages, it begins with the headings of the span
    as indexed, each of which can be requested separately."""
    part = part_of(note, span, 0)
    if not part.next_offset:
        return part
    headings: list[NoteHeading] = []
    room = _HEADING_TOKENS
    for one in outline.headings:
        if span[0] <= one.start < span[1] and not one.nested:
            heading = NoteHeading(one.text[:_NAME_CHARS], one.line)
            room -= tokens_of(heading.heading) + _TOKENS_BESIDE_HEADING
            if room < 0:
                break
            headings.append(heading)
    shorter = part_of(note, span, 0, TEXT_TOKENS - _HEADING_TOKENS + max(0, room))
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


def around_marks(text: str, marks: Sequence[tuple[int, int]], chars: int) -> str:
    """The part of a snippet with the most marks, in whole words, of about `chars` characters at most."""
    if len(text) <= chars:
        return text
    starts = [max(0, min(start - chars // 4, len(text) - chars)) for start, _ in marks] or [0]
    begin = max(
        starts,
        key=lambda at: (sum(at <= start and end <= at + chars for start, end in marks), -at),
    )
    cut = text[begin : begin + chars]
    if begin:
        cut = "…" + (cut.partition(" ")[2] or cut)
    if begin + chars < len(text):
        cut = (cut.rpartition(" ")[0] or cut) + "…"
    return cut


def _line_starts(text: str) -> list[int]:
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()  # the line break at the end of the last line starts no line
    return starts
