"""The part of a chunk to show: the sentences that say most of the query, with marks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import NamedTuple

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import MARKS
from vault_indexer.text.sentences import sentences

_ELLIPSIS = "…"
_WORD = re.compile(rf"\w[\w{MARKS}]*+")
_INSIDE = re.compile(r"(?<=\w)")
_SIGN = re.compile(r"\W")
_SPACE = re.compile(r"\s+")
_STEM = 4
"""Letters that a word has to share with another form of it."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text on one line, the spans in it that match, and where in the chunk's body it begins."""

    text: str
    marks: tuple[Span, ...]
    start: int


class _Match(NamedTuple):
    """A word of the body that stands for a word of the query."""

    start: int
    end: int
    word: str


class Snippets:
    """Of the hits of one query, by all the words that were looked for; about `size` characters each."""

    def __init__(self, words: Iterable[str], size: int) -> None:
        self._size = size
        self._likely = _likely(frozenset(word for word in map(_fold_word, words) if word.isascii() and word))

    def of(self, body: str, words: Mapping[str, float]) -> Snippet:
        """The part of `body` to show; `words` are those that it matched by, each with what it is worth.

        A word matches if its folded form begins with that of a query word or the reverse for four characters
        or more, so that inflected forms are marked as well.
        """
        wanted = {_fold_word(word): worth for word, worth in words.items() if word}
        found = self._matches(body, wanted) if wanted else []
        start, end = _window(body, found, wanted, self._size)
        spans = [(match.start, match.end) for match in found if start <= match.start and match.end <= end]
        text, marks = _on_one_line(body, start, end, spans)
        return Snippet(text, marks, start)

    def _matches(self, body: str, wanted: Mapping[str, float]) -> list[_Match]:
        """The words of the body that stand for one that is wanted, in order."""
        by_stem = _by_stem(wanted)
        # Of a text in plain letters the expression finds the few words that can match.
        places = self._likely.finditer(body.lower()) if body.isascii() else _WORD.finditer(body)
        known: dict[str, str | None] = {}
        found = []
        for place in places:
            word = place.group()
            if word not in known:
                known[word] = _match_word(_fold_word(word), wanted, by_stem)
            match = known[word]
            if match is not None and not _INSIDE.match(body, place.start()):
                found.append(_Match(*place.span(), match))
        return found


@lru_cache(maxsize=1024)
def _sentences(body: str) -> tuple[Span, ...]:
    """Cached: while a user types a query, the same hits come again and again."""
    return tuple(sentences(body))


@lru_cache(maxsize=65_536)
def _fold_word(word: str) -> str:
    return fold(normalize(word))


@lru_cache(maxsize=256)
def _likely(wanted: frozenset[str]) -> re.Pattern[str]:
    """What in a text in lower case may stand for a word that is wanted, in the middle of words, too: to begin
    with a letter makes the search several times faster. A word with a sign in it, as `a-b`, is one."""
    whole = sorted((word for word in wanted if _SIGN.search(word)), key=lambda word: (-len(word), word))
    begins = [re.escape(word) for word in whole]
    begins += sorted({_beginning(word) for word in wanted.difference(whole)})
    return re.compile(rf"(?:{'|'.join(begins)})\w*" if begins else r"(?!)")


def _beginning(word: str) -> str:
    return word[:_STEM] if len(word) >= _STEM else rf"{word}\b"


def _by_stem(wanted: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The query's words by what a matching word has to begin with; "" for those that it may only contain:
    in scripts without spaces a run of text is one word here."""
    found: dict[str, list[str]] = {}
    for word in wanted:
        if len(word) >= _STEM:
            found.setdefault(word[:_STEM], []).append(word)
        if not word.isascii():
            found.setdefault("", []).append(word)
    return found


def _match_word(word: str, wanted: Mapping[str, float], by_stem: Mapping[str, Sequence[str]]) -> str | None:
    if word in wanted:
        return word
    for other in by_stem.get(word[:_STEM], ()):
        if word.startswith(other) or other.startswith(word):
            return other
    return next((other for other in by_stem.get("", ()) if other in word), None)


def _window(body: str, found: Sequence[_Match], wanted: Mapping[str, float], size: int) -> Span:
    """The run of whole sentences within `size` worth most: every word counts once."""
    if len(body) <= size:
        return 0, len(body)
    spans = _sentences(body)
    if not spans:
        return 0, size
    starts = [match.start for match in found]
    best, shown, last = -1.0, spans[0], 0
    for number in _worth_a_look(spans, starts, size):
        start = spans[number][0]
        last = max(last, number)
        while last + 1 < len(spans) and spans[last + 1][1] - start <= size:
            last += 1
        end = spans[last][1]
        within = found[bisect_left(starts, start) : bisect_left(starts, min(end, start + size))]
        worth = fsum(map(wanted.__getitem__, {match.word for match in within}))
        if worth > best:
            best, shown = worth, (start, end)
    start, end = shown
    return shown if end - start <= size else _dense(body, found, shown, size)


def _worth_a_look(spans: Sequence[Span], starts: Sequence[int], size: int) -> range:
    """The sentences from which `size` characters may reach a match; where there is none, the first."""
    if not starts:
        return range(1)
    first = bisect_left(spans, (starts[0] - size, 0))
    return range(max(0, first - 1), bisect_left(spans, (starts[-1] + 1, 0)) or 1)


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
    folded = _SPACE.sub(" ", text)
    return out + (folded.lstrip() if not out or out[-1] in f" {_ELLIPSIS}" else folded)
