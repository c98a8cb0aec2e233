"""The part of a note that an agent asks for: a heading's section, lines, and pages of either."""

from __future__ import annotations

from bisect import bisect_right

from vault_indexer.errors import UsageError
from vault_indexer.model import NoteOutline, NotePart, NoteText
from vault_indexer.parse import Anchors
from vault_indexer.serve.mcp.budget import tokens_of

TEXT_TOKENS = 3_000
"""Of the text of a page. JSON writes a line break and a quotation mark as two characters, so there is room
left."""

_NAME_CHARS = 60
_NAMED = 20
"""Headings that a message lists."""


def section_of(outline: NoteOutline, heading: str) -> tuple[int, int]:
    """The span from a heading to the next one of its level or above, as a link to it shows it.

    Raises UsageError for a heading that the note does not have, and names those that it has.
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
    """The span of some lines, both inclusive; None means up to the end. Raises UsageError for lines that
    the note does not have."""
    starts = _line_starts(text)
    if first > len(starts):
        raise UsageError(f"start_line = {first}: the note has {len(starts)} lines")
    if last is not None and last < first:
        raise UsageError(f"end_line = {last}: it is before start_line = {first}")
    return starts[first - 1], len(text) if last is None or last >= len(starts) else starts[last]


def part_of(note: NoteText, span: tuple[int, int], offset: int) -> NotePart:
    """The page of a span of the note that begins at its character `offset`. Raises UsageError for an offset
    beyond its end."""
    text = note.text
    starts = _line_starts(text)
    begin, end = span[0] + offset, span[1]
    if offset and begin >= end:
        raise UsageError(f"offset = {offset}: the part has {end - begin + offset} characters")
    stop = begin + page_length(text[begin:end])
    return NotePart(
        path=note.path,
        start_line=bisect_right(starts, begin),
        end_line=max(bisect_right(starts, begin), bisect_right(starts, stop - 1)),
        total_lines=len(starts),
        text=text[begin:stop],
        modified_time=note.modified_time,
        next_offset=offset + stop - begin if stop < end else 0,
    )


def page_length(text: str) -> int:
    """How many characters of the text make a page: up to the last line break that fits, else as many as
    fit."""
    low, high = 0, len(text)
    if tokens_of(text[: 8 * TEXT_TOKENS]) <= TEXT_TOKENS and high <= 8 * TEXT_TOKENS:
        return high
    high = min(high, 8 * TEXT_TOKENS)
    while low < high:  # the estimate grows with the text
        middle = (low + high + 1) // 2
        if tokens_of(text[:middle]) <= TEXT_TOKENS:
            low = middle
        else:
            high = middle - 1
    return text.rfind("\n", 0, low) + 1 or low


def _line_starts(text: str) -> list[int]:
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()  # the line break that ends the last line begins none
    return starts
