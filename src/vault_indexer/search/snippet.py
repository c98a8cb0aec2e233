"""The part of a chunk to show: the sentences that say most of what was asked, with marks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.sentences import sentences

_ELLIPSIS = "…"
_WORD = re.compile(r"\w+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text on one line, the spans in it that match, and where in the chunk's body it begins."""

    text: str
    marks: tuple[Span, ...]
    start: int


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the body that stands for a word of the query."""

    start: int
    end: int
    word: str


def snippet(body: str, words: Mapping[str, float], size: int) -> Snippet:
    """About `size` characters of `body`; `words` are those looked for, each with what it is worth.

    A word matches if its folded form begins with that of a query word or the reverse for four characters
    or more, so that inflected forms are marked as well.
    """
    wanted = {_folded(word): worth for word, worth in words.items() if word}
    # A body repeats its words: each is compared once.
    matched = {word: _matched(_folded(word), wanted) for word in set(_WORD.findall(body))}
    found = [
        _Match(match.start(), match.end(), word)
        for match in (_WORD.finditer(body) if any(matched.values()) else ())
        if (word := matched[match.group()]) is not None
    ]
    start, end = _window(body, found, wanted, size)
    spans = [(match.start, match.end) for match in found if start <= match.start and match.end <= end]
    text, marks = _on_one_line(body, start, end, spans)
    return Snippet(text, marks, start)


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return fold(normalize(word))


def _matched(word: str, wanted: Mapping[str, float]) -> str | None:
    if word in wanted:
        return word
    for other in wanted:
        shared = min(len(word), len(other))
        if shared >= 4 and word[:shared] == other[:shared]:
            return other
        if not other.isascii() and other in word:  # scripts without spaces: a run of text is one word here
            return other
    return None


def _window(body: str, found: Sequence[_Match], wanted: Mapping[str, float], size: int) -> Span:
    """The run of whole sentences within `size` worth most: every word counts once."""
    if len(body) <= size:
        return 0, len(body)
    spans = sentences(body)
    best: tuple[float, int, Span] | None = None
    for number, (start, first_end) in enumerate(spans):
        end = first_end
        for _, later in spans[number + 1 :]:
            if later - start > size:
                break
            end = later
        worth = _worth(found, start, min(end, start + size), wanted)
        if best is None or worth > best[0]:
            best = (worth, number, (start, end))
    if best is None:
        return 0, min(len(body), size)
    start, end = best[2]
    return (start, end) if end - start <= size else _dense(body, found, (start, end), size)


def _worth(found: Sequence[_Match], start: int, end: int, wanted: Mapping[str, float]) -> float:
    first = bisect_left(found, start, key=lambda match: match.start)
    last = bisect_left(found, end, key=lambda match: match.start)
    return sum(wanted[word] for word in {match.word for match in found[first:last]})


def _dense(body: str, found: Sequence[_Match], within: Span, size: int) -> Span:
    """Of a sentence that is too long, the part with the most matches."""
    starts = [match.start for match in found if within[0] <= match.start < within[1]]
    best = max(
        range(len(starts)),
        key=lambda first: (bisect_left(starts, starts[first] + size * 3 // 4) - first, -first),
        default=None,
    )
    start = within[0] if best is None else max(within[0], starts[best] - size // 4)
    start = _word_start(body, max(within[0], min(start, within[1] - size)))
    return start, _word_end(body, min(within[1], start + size))


def _word_start(body: str, at: int) -> int:
    near = body.rfind(" ", max(0, at - 20), at + 1)
    return at if at == 0 or near < 0 else near + 1


def _word_end(body: str, at: int) -> int:
    near = body.rfind(" ", max(0, at - 20), at)
    return at if at >= len(body) or near < 0 else near


def _on_one_line(body: str, start: int, end: int, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """The window with every run of white space as one space, and the spans moved along."""
    out = _ELLIPSIS if body[:start].strip() else ""
    marks: list[Span] = []
    at = start
    for first, last in spans:
        out = _append(out, body[at:first])
        marks.append((len(out), len(out) + last - first))
        out += body[first:last]
        at = last
    out = _append(out, body[at:end])
    return out.rstrip() + (_ELLIPSIS if body[end:].strip() else ""), tuple(marks)


def _append(out: str, text: str) -> str:
    folded = re.sub(r"\s+", " ", text)
    return out + (folded.lstrip() if not out or out[-1] in f" {_ELLIPSIS}" else folded)
