"""Spans of text: where they may be cut, how large they are, and how they are packed."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from vault_indexer.config.tables.chunking_options import SizeUnit
from vault_indexer.errors import UsageError
from vault_indexer.ports import Tokenizer
from vault_indexer.system import record
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
    """The span without surrounding blank lines and trailing blanks: the first line keeps its indentation.

    If it begins in the middle of a line with text, white space before that text is removed as well. An
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
    return next((place for place in range(cut, floor - 1, -1) if not _binds(text, start, place)), cut)


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


# Sizes. Each measurement takes logarithmic time.

# Han and kana are written without spaces, so each character counts as a word.
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_COUNTED_WORD = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]+")


class Ruler:
    """Sizes of spans of one text, here in characters. A subclass has another unit: `size` never exceeds
    `at(end) - at(start)`, and `at` never decreases."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, pos: int) -> int:
        """The number of units that begin before `pos`."""
        return pos

    def size(self, start: int, end: int) -> int:
        """The units of the span as a chunk would store it, without surrounding blank lines."""
        start, end = trim(self._text, start, end)
        return self.at(end) - self.at(start)

    def reach(self, start: int, size: int) -> int:
        """The last position for which start to there contains at most `size`."""
        return min(start + size, len(self._text))

    def back(self, end: int, size: int) -> int:
        """The first position for which there to `end` contains at most `size`."""
        return max(end - size, 0)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Touching spans of at most `limit`, with borders at any position."""
        return hard_splits(self._text, start, end, limit)

    def room(self, limit: int) -> int:
        """The size for cutting that keeps a chunk within `limit` when it is measured separately."""
        return limit


class Marks(Ruler):
    """Sizes in units with given starts: words or tokens."""

    def __init__(self, text: str, starts: list[int]) -> None:
        super().__init__(text)
        self._starts = starts

    def at(self, pos: int) -> int:
        return bisect_left(self._starts, pos)

    def reach(self, start: int, size: int) -> int:
        index = self.at(start) + size
        return self._starts[index] if index < len(self._starts) else len(self._text)

    def back(self, end: int, size: int) -> int:
        index = self.at(end) - size
        if size == 0 or index <= 0:
            return end if size == 0 else 0
        start = self._starts[index]
        # The tokens of a multi-token character share one start: the character fits only with all of them.
        return start if self._starts[index - 1] < start else self._after(start, end)

    def parts(self, start: int, end: int, limit: int) -> list[Span]:
        """Parts of `limit` units; a border moves back rather than split a visible character."""
        spans: list[Span] = []
        while start < end:
            cut = max(min(self.reach(start, limit), end), start + 1)
            if cut < end:
                cut = safe_split(self._text, start, cut)
            spans.append((start, cut))
            start = cut
        return spans

    def _after(self, start: int, end: int) -> int:
        index = bisect_right(self._starts, start)
        return min(self._starts[index], end) if index < len(self._starts) else end


class Tokens(Marks):
    """Sizes in the tokens of a whole text. A part measured separately may have a few more at its edges:
    `count` returns the exact number, and `assemble.fit` ensures that no chunk exceeds its limit."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        super().__init__(text, [_text_start(text, *span) for span in tokenizer.offsets(text)])
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.offsets(text))

    def room(self, limit: int) -> int:
        """The limit minus the tokens that the tokenizer adds before any text."""
        return max(limit - self._prefix, 1)

    @cached_property
    def _prefix(self) -> int:
        return max(2 * self.count(_PROBE) - self.count(_PROBE * 2), 0)


_PROBE = "漢\n"
"""A word that no tokenizer joins to the next one."""


def _text_start(text: str, start: int, end: int) -> int:
    """The position of the token's first non-blank character: some tokenizers include the space before a word
    in the token. A token that is all blank, or a part of a character, keeps its own start."""
    return next((pos for pos in range(start, end) if not text[pos].isspace()), start)


def ruler_for(text: str, unit: SizeUnit, tokenizer: Tokenizer | None) -> Ruler:
    """The ruler for a unit. Raises UsageError for tokens without a tokenizer."""
    if unit == "characters":
        return Ruler(text)
    if unit == "words":
        return Marks(text, [match.start() for match in _COUNTED_WORD.finditer(text)])
    return token_ruler(text, tokenizer)


def token_ruler(text: str, tokenizer: Tokenizer | None) -> Tokens:
    """A ruler for tokens. Raises UsageError without a tokenizer."""
    if tokenizer is None:
        raise UsageError(
            "size_unit = tokens needs a tokenizer, and the embedding model has none: use words or characters"
        )
    return Tokens(text, tokenizer)


# Joins atoms into chunks: evenly within a section, or as a window that slides over a text.


def pack(spans: Sequence[Span], ruler: Ruler, limit: int) -> list[Span]:
    """Joins touching spans into few pieces of at most `limit` and of nearly equal size.

    Each piece ends at the border nearest to an equal share of the remaining text: a border that would cost an
    additional piece is never the nearest. A single span above the limit is a piece of its own.
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


@record
class Window:
    """A chunk, and the start of the text repeated before it."""

    overlap_start: int
    start: int
    end: int


def slide(text: str, spans: Sequence[Span], ruler: Ruler, size: int, overlap: int) -> list[Window]:
    """Windows over touching spans: each contains at most `size`, of which at most `overlap` is repeated.

    The repeated part begins where a span begins, or at a word if the last span is longer than the overlap. It
    shrinks if the next span would not fit with it, and never exceeds fifteen sixteenths of the size, so that
    every window advances. A single span above `size` is a window of its own.
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
"""The maximum number of windows per size: all together contain at most a fixed multiple of the text."""
