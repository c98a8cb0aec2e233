"""Converts spans to chunks: the single place that sets ids, lines, header paths and overlap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from vault_indexer.chunk.cutting.blocks import BlockSplitter
from vault_indexer.chunk.cutting.sections import Outline
from vault_indexer.chunk.cutting.sizes import Ruler, Tokens
from vault_indexer.chunk.cutting.spans import Span, trim, word_start
from vault_indexer.model import HEADER_SEPARATOR, Chunk, JsonValue, Note, join_context
from vault_indexer.ports import Tokenizer

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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Draft:
    """A span that will become a chunk.

    Neighbouring drafts of one `family` (not None) are the pieces of one split section and are numbered
    `_sub_0`, `_sub_1`, … `overlap` is text repeated from the previous draft.
    """

    start: int
    end: int
    family: int | None = None
    overlap: str = ""
    context: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    embed: bool = True

    def with_extra(self, extra: Mapping[str, JsonValue]) -> Draft:
        return replace(self, extra={**self.extra, **extra})


def windows(text: str, spans: Iterable[Window], family: int | None = None) -> list[Draft]:
    """Drafts of windows, without surrounding blank lines. Their overlap comes from the previous window."""
    drafts: list[Draft] = []
    for span in spans:
        start, end = trim(text, span.start, span.end)
        if end > start:
            before = drafts[-1] if drafts else None
            repeated = max(span.overlap_start, before.start - len(before.overlap)) if before else span.start
            overlap = text[repeated:start] if repeated < span.start else ""
            drafts.append(Draft(start, end, family=family, overlap=overlap))
    return drafts


def trim_drafts(text: str, drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts without surrounding blank lines; entirely blank drafts are dropped."""
    kept: list[Draft] = []
    for draft in drafts:
        start, end = trim(text, draft.start, draft.end)
        if end > start:
            kept.append(replace(draft, start=start, end=end))
    return kept


def assemble(note: Note, strategy: str, drafts: list[Draft], outline: Outline) -> list[Chunk]:
    """The chunks of trimmed drafts, in their order.

    `chunk_index` is the position in the list. The index in an id is the same, except for the pieces of a
    split section: they share the index of the first piece and add `_sub_{n}`, n from 0.
    """
    chunks: list[Chunk] = []
    first = 0
    for index, draft in enumerate(drafts):
        if index and not _siblings(drafts, index - 1):
            first = index
        split = index > first or _siblings(drafts, index)
        name = f"{note.doc_id}_chunk_{first}" + (f"_sub_{index - first}" if split else "")
        chunks.append(_chunk(note, strategy, draft, outline, (name, index)))
    return chunks


def _siblings(drafts: list[Draft], index: int) -> bool:
    """Whether the draft and the next one are pieces of the same section."""
    family = drafts[index].family
    return family is not None and index + 1 < len(drafts) and drafts[index + 1].family == family


def _chunk(note: Note, strategy: str, draft: Draft, outline: Outline, name: tuple[str, int]) -> Chunk:
    start, end = draft.start, draft.end
    body = note.text[start:end]
    return Chunk(
        chunk_id=name[0],
        chunk_index=name[1],
        header_path=outline.header_path(start),
        start_pos=start,
        end_pos=end,
        start_line=outline.line(start),
        end_line=outline.line(start + len(body.rstrip()) - 1),
        body=body,
        strategy=strategy,
        overlap=draft.overlap,
        context=draft.context,
        extra=draft.extra,
        embed=draft.embed,
    )


Options = TypeVar("Options")


class DraftChunker(ABC, Generic[Options]):
    """The base class of strategies: `drafts` decides where a note is split; everything else is common to all.

    `tokenizer` is required only if the options count in tokens.
    """

    strategy = ""

    def __init__(self, options: Options, tokenizer: Tokenizer | None = None) -> None:
        self._options = options
        self._tokenizer = tokenizer

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note, in order."""
        outline = Outline(note)
        return assemble(note, self.strategy, self.drafts(note, outline), outline)

    @abstractmethod
    def drafts(self, note: Note, outline: Outline) -> list[Draft]:
        """The spans of the chunks, trimmed and in order."""


# Exact token limits: each draft is measured as the chunk that it will become.
#
# A ruler has the token positions of a whole note. A separate chunk may have a few more tokens at its edges,
# and its headings and overlap precede it. To meet the limit, a chunk loses, in this order, some of its
# overlap, its outer headings, and its end, which becomes a separate chunk.


TOKEN_COUNT = "token_count"
"""The key in a chunk's `extra` for the tokens of its `content`, by the tokenizer of its strategy."""


def fit(text: str, drafts: Iterable[Draft], ruler: Ruler, limit: int) -> list[Draft]:
    """The drafts with no content over `limit` tokens, each with its `token_count`. Unchanged if the ruler
    uses another unit."""
    if not isinstance(ruler, Tokens):
        return list(drafts)
    return [fitted for draft in drafts for fitted in _fit(text, draft, ruler, limit)]


def fit_spans(text: str, spans: Iterable[Span], ruler: Ruler, limit: int) -> list[Span]:
    """The spans; those over `limit` tokens are divided."""
    return [(one.start, one.end) for one in fit(text, (Draft(*span) for span in spans), ruler, limit)]


def _fit(text: str, draft: Draft, ruler: Tokens, limit: int) -> Iterator[Draft]:
    count = ruler.count(_content(text, draft))
    if count <= limit:
        yield draft.with_extra({TOKEN_COUNT: count})
        return
    if draft.overlap:
        yield from _fit(
            text, replace(draft, overlap=_shorter(text, draft, ruler, count - limit)), ruler, limit
        )
        return
    # Headings are shortened only if they take more than half of the limit; otherwise the text is divided.
    if draft.context and 2 * ruler.count(draft.context) > limit:
        yield from _fit(text, replace(draft, context=_inner(draft.context)), ruler, limit)
        return
    start, end = trim(text, draft.start, draft.end)
    parts = _halves(text, start, end, ruler)
    if len(parts) < 2:  # a single character
        yield draft.with_extra({TOKEN_COUNT: count})
        return
    for part in parts:
        yield from _fit(text, replace(draft, start=part[0], end=part[1], overlap=""), ruler, limit)


def _content(text: str, draft: Draft) -> str:
    return join_context(draft.context, draft.overlap + text[draft.start : draft.end])


def _shorter(text: str, draft: Draft, ruler: Tokens, excess: int) -> str:
    """The overlap without its first words, which have at least `excess` tokens."""
    start = draft.start - len(draft.overlap)
    begin = max(ruler.reach(start, excess), start + 1)
    return text[word_start(text, begin, draft.start) : draft.start] if begin < draft.start else ""


def _inner(context: str) -> str:
    """The context without its outermost heading; half of it if there is only one heading."""
    for separator in ("\n", HEADER_SEPARATOR):
        _, found, rest = context.partition(separator)
        if found:
            return rest
    return context[: len(context) // 2]


def _halves(text: str, start: int, end: int, ruler: Tokens) -> list[Span]:
    """Two parts of nearly equal size, between words where there are words."""
    half = max((ruler.size(start, end) + 1) // 2, 1)
    words = list(BlockSplitter(text, ruler, half).words(start, end))
    parts = [trim(text, *part) for part in pack(words, ruler, half + half // 4 + 1)]
    parts = [part for part in parts if part[1] > part[0]]
    if len(parts) > 1 or end - start < 2:
        return parts
    middle = (start + end) // 2
    return [(start, middle), (middle, end)]
