"""The part of a chunk to show: the densest window of matched words, with their places."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from vault_indexer.text.fold import fold

_ELLIPSIS = "…"
_WORD = re.compile(r"\w+")

Marks = tuple[tuple[int, int], ...]


def snippet(body: str, words: Iterable[str], size: int) -> tuple[str, Marks]:
    """About `size` characters of `body` on one line, and the spans in it of words that match.

    A word matches if its folded form begins with that of a query word or the reverse for four characters
    or more, so that inflected forms are marked as well.
    """
    wanted = sorted({fold(word) for word in words} - {""})
    spans = [match.span() for match in _WORD.finditer(body) if _matches(fold(match.group()), wanted)]
    start, end = _window(body, spans, size)
    return _on_one_line(body, start, end, [span for span in spans if start <= span[0] and span[1] <= end])


def _matches(word: str, wanted: Sequence[str]) -> bool:
    for other in wanted:
        shared = min(len(word), len(other))
        if word == other or (shared >= 4 and word[:shared] == other[:shared]):
            return True
        if not other.isascii() and other in word:  # scripts without spaces: a run of text is one word here
            return True
    return False


def _window(body: str, spans: Sequence[tuple[int, int]], size: int) -> tuple[int, int]:
    if len(body) <= size:
        return 0, len(body)
    starts = [span[0] for span in spans]
    best = max(
        range(len(starts)),
        key=lambda first: (bisect_left(starts, starts[first] + size * 3 // 4) - first, -first),
        default=None,
    )
    start = 0 if best is None else max(0, starts[best] - size // 4)
    start = _word_start(body, min(start, len(body) - size))
    return start, _word_end(body, min(len(body), start + size))


def _word_start(body: str, at: int) -> int:
    near = body.rfind(" ", max(0, at - 20), at + 1)
    return at if at == 0 or near < 0 else near + 1


def _word_end(body: str, at: int) -> int:
    near = body.rfind(" ", max(0, at - 20), at)
    return at if at >= len(body) or near < 0 else near


def _on_one_line(body: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> tuple[str, Marks]:
    """The window with every run of white space as one space, and the spans moved along."""
    out = _ELLIPSIS if start > 0 else ""
    marks: list[tuple[int, int]] = []
    at = start
    for first, last in spans:
        out = _append(out, body[at:first])
        marks.append((len(out), len(out) + last - first))
        out += body[first:last]
        at = last
    out = _append(out, body[at:end])
    return out.rstrip() + (_ELLIPSIS if end < len(body) else ""), tuple(marks)


def _append(out: str, text: str) -> str:
    folded = re.sub(r"\s+", " ", text)
    return out + (folded.lstrip() if not out or out[-1] in f" {_ELLIPSIS}" else folded)
