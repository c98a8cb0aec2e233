"""Joining atoms into chunks: evenly within a section, or as a window that slides over a text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.chunk.cutting.sizes import Ruler
from vault_indexer.chunk.cutting.spans import Span, word_start


def pack(spans: Sequence[Span], ruler: Ruler, limit: int) -> list[Span]:
    """Touching spans joined into few pieces of at most `limit` and of nearly equal size.

    Each piece ends at the border nearest to an equal share of what is left: one that would cost a piece more
    is never the nearest. A span alone above the limit is a piece of its own.
    """
    pieces: list[Span] = []
    ends = [ruler.at(end) for _, end in spans]
    index = 0
    while index < len(spans):
        start = spans[index][0]
        last = _last_of_piece(ends, index, ruler.at(start), limit)
        pieces.append((start, spans[last][1]))
        index = last + 1
    return pieces


def _last_of_piece(ends: list[int], index: int, start: int, limit: int) -> int:
    """The index of the span that ends the piece which begins at `start` with span `index`."""
    left = ends[-1] - start
    furthest = max(bisect_right(ends, start + limit, lo=index) - 1, index)
    count = -(-left // limit)
    if count <= 1:
        return furthest
    share = start + left / count
    above = min(bisect_left(ends, share, lo=index), furthest)
    below = max(above - 1, index)
    return below if share - ends[below] < ends[above] - share else above


@dataclass(frozen=True, slots=True)
class Window:
    """A chunk and where the text repeated before it begins."""

    overlap_start: int
    start: int
    end: int


def slide(text: str, spans: Sequence[Span], ruler: Ruler, size: int, overlap: int) -> list[Window]:
    """Windows over touching spans: each holds at most `size`, of which at most `overlap` repeats.

    The repeated part begins where a span begins, or at a word where the last span is longer than the overlap.
    It gives way where the next span would not fit with it, and is never more than fifteen sixteenths of the
    size, so that every window gets on. A span alone above `size` is a window of its own.
    """
    windows: list[Window] = []
    starts = [start for start, _ in spans]
    ends = [ruler.at(end) for _, end in spans]
    overlap = min(overlap, size - max(size // _SLOWEST, 1))
    index = 0
    while index < len(spans):
        start, repeated = starts[index], starts[index]
        room = min(overlap, size - (ends[index] - ruler.at(start)))
        if windows and room > 0:
            earliest = ruler.back(start, room)
            first = bisect_left(starts, earliest, hi=index)
            repeated = starts[first] if first < index else word_start(text, earliest, start)
        last = max(bisect_right(ends, ruler.at(repeated) + size, lo=index) - 1, index)
        windows.append(Window(repeated, start, spans[last][1]))
        index = last + 1
    return windows


_SLOWEST = 16
"""Windows to a size: all together hold at most a fixed multiple of the text."""
