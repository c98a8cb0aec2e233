"""Spans of text: trims them, and finds the positions where they may be cut."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from vault_indexer.text.sentences import sentences

Span = tuple[int, int]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\s*\S+")
_SPACE = re.compile(r"\s+")
_WIDE = "\u3000"
_JOINER = "\u200d"
_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""A flag consists of two of these. Only the count from the start of their run shows where one begins."""


def trim(text: str, start: int, end: int) -> Span:
    """The span without surrounding blank lines: the first line keeps its indentation.

    If the span begins in the middle of a line, white space up to the first character is removed as well. An
    all-blank span becomes empty (start == end).
    """
    piece = text[start:end]
    bare_end = start + len(piece.rstrip())
    first = start + len(piece) - len(piece.lstrip())
    if bare_end <= start:
        return start, start
    line_start = text.rfind("\n", start, first) + 1
    if line_start:
        return line_start, bare_end
    return (start if start == 0 or text[start - 1] == "\n" else first), bare_end


def lines(text: str, start: int, end: int) -> Iterator[Span]:
    return (match.span() for match in _LINE.finditer(text, start, end))


def sentence_spans(text: str, start: int, end: int) -> list[Span]:
    """The sentences of a span, without the white space between them."""
    return [(start + a, start + b) for a, b in sentences(text[start:end])]


def words(text: str, start: int, end: int) -> Iterator[Span]:
    """The words of a span (runs without white space), each with the white space before it."""
    return (match.span() for match in _WORD.finditer(text, start, end))


def word_start(text: str, pos: int, end: int) -> int:
    """`pos`, or the start of the next word if it is within one (of a script with spaces)."""
    if pos == 0 or pos >= end or text[pos - 1].isspace() or text[pos - 1] >= _WIDE:
        return pos
    space = _SPACE.search(text, pos, min(end, pos + 40))
    return pos if space is None else space.end()


def hard_splits(text: str, start: int, end: int, limit: int) -> list[Span]:
    """Parts of nearly equal length, at most `limit`, that split no visible character.

    Combining marks, joiners, variation selectors, skin tones, flags and CRLF stay with their base characters,
    unless such a sequence alone is longer than `limit`, or than 64 characters.
    """
    count = -(-(end - start) // limit)
    step = -(-(end - start) // count)
    spans: list[Span] = []
    while end - start > step:
        cut = safe_split(text, start, start + step)
        spans.append((start, cut))
        start = cut
    spans.append((start, end))
    return spans


def safe_split(text: str, start: int, cut: int) -> int:
    """The last position at or before `cut`, after `start`, between two whole characters."""
    floor = max(start + 1, cut - 64)
    for place in range(cut, floor - 1, -1):
        if not _binds(text, start, place):
            return place
    return cut


def _binds(text: str, start: int, place: int) -> bool:
    """Whether the characters on both sides of `place` are displayed as one, given that a character begins at
    `start`."""
    before, after = text[place - 1], text[place]
    if before == _JOINER or after == _JOINER or (before == "\r" and after == "\n"):
        return True
    if unicodedata.category(after) in {"Mn", "Mc", "Me"} or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if after in _FLAG_HALVES:
        piece = text[start:place]
        return (len(piece) - len(piece.rstrip(_FLAG_HALVES))) % 2 == 1
    return False


def tile(spans: Iterable[Span], start: int, end: int) -> Iterator[Span]:
    """The spans extended so that they touch and together cover start to end."""
    begins, covered = start, False
    for index, (own_start, _) in enumerate(spans):
        if index:
            yield begins, own_start
            begins = own_start
        covered = True
    if covered:
        yield begins, end


# The sentences of a note by their ids.


class NoteSentences:
    """The sentences of one note, in order: sentence number n has the id `{doc_id}_sentence_{n}`.

    They depend only on the text and the spans of its blocks, which the catalog stores. So it can map an id to
    its span for chunks of any strategy, without storing anything else.
    """

    def __init__(self, doc_id: str, text: str, block_spans: Iterable[Span]) -> None:
        self._name = f"{doc_id}_sentence_"
        self._spans = [span for start, end in block_spans for span in sentence_spans(text, start, end)]

    def __len__(self) -> int:
        return len(self._spans)

    def span(self, sentence_id: str) -> Span | None:
        """The span of the sentence; None if the note has no sentence with this id."""
        number = sentence_id.removeprefix(self._name)
        is_own = sentence_id.startswith(self._name) and number.isascii() and number.isdecimal()
        return self._spans[int(number)] if is_own and int(number) < len(self) else None

    def ids(self, start: int, end: int) -> list[str]:
        """The ids of the sentences that overlap start to end, in order."""
        first = bisect_right(self._spans, start, key=lambda span: span[1])
        last = bisect_left(self._spans, end, key=lambda span: span[0])
        return [f"{self._name}{number}" for number in range(first, last)]
