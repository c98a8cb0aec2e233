"""Converts spans to chunks: the single place that sets ids, lines, header paths and overlap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Generic, TypeVar

from vault_indexer.chunk.cutting.blocks import (
    BlockSplitter,
    Paragraph,
    blocks_of,
    paragraphs_of_blocks,
    within,
)
from vault_indexer.chunk.cutting.sections import Outline, Unit
from vault_indexer.chunk.cutting.spans import (
    Marks,
    Ruler,
    Span,
    Tokens,
    Window,
    pack,
    ruler_for,
    trim,
    word_start,
)
from vault_indexer.model import HEADER_SEPARATOR, Chunk, Element, ElementKind, JsonValue, Note, join_context
from vault_indexer.ports import Tokenizer
from vault_indexer.system import record


@record
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
    preamble: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    embed: bool = True

    def with_extra(self, extra: Mapping[str, JsonValue]) -> Draft:
        return replace(self, extra={**self.extra, **extra})


def windows(text: str, spans: Iterable[Window]) -> list[Draft]:
    """Drafts of windows, without surrounding blank lines. Their overlap comes from the previous window."""
    drafts: list[Draft] = []
    for span in spans:
        start, end = trim(text, span.start, span.end)
        if end > start:
            before = drafts[-1] if drafts else None
            repeated = max(span.overlap_start, before.start - len(before.overlap)) if before else span.start
            overlap = text[repeated:start] if repeated < span.start else ""
            drafts.append(Draft(start, end, overlap=overlap))
    return drafts


def trim_drafts(text: str, drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts without surrounding blank lines; entirely blank drafts are dropped."""
    kept: list[Draft] = []
    for draft in drafts:
        start, end = trim(text, draft.start, draft.end)
        if end > start:
            kept.append(replace(draft, start=start, end=end))
    return kept


def assemble(note: Note, strategy: str, drafts: list[Draft], outline: Outline | None = None) -> list[Chunk]:
    """The chunks of trimmed drafts, in their order.

    `chunk_index` is the position in the list. The index in an id is the same, except for the pieces of a
    split section: they share the index of the first piece and add `_sub_{n}`, n from 0.
    """
    outline = outline or Outline(note)
    chunks: list[Chunk] = []
    first = 0
    for index, draft in enumerate(drafts):
        if index and not _siblings(drafts, index - 1):
            first = index
        split = index > first or _siblings(drafts, index)
        name = f"{note.doc_id}_chunk_{first}" + (f"_sub_{index - first}" if split else "")
        start, end = draft.start, draft.end
        body = note.text[start:end]
        chunk = Chunk(
            chunk_id=name,
            chunk_index=index,
            header_path=outline.header_path(start),
            start_pos=start,
            end_pos=end,
            start_line=outline.line(start),
            end_line=outline.line(start + len(body.rstrip()) - 1),
            body=body,
            strategy=strategy,
            overlap=draft.overlap,
            context=draft.context,
            preamble=draft.preamble,
            extra=draft.extra,
            embed=draft.embed,
        )
        chunks.append(chunk)
    return chunks


def _siblings(drafts: list[Draft], index: int) -> bool:
    """Whether the draft and the next one are pieces of the same section."""
    family = drafts[index].family
    return family is not None and index + 1 < len(drafts) and drafts[index + 1].family == family


Options = TypeVar("Options")


class NoteLayout:
    """The blocks, paragraphs and outline of a note that is being split, and a ruler for its text."""

    def __init__(self, note: Note, ruler: Ruler) -> None:
        self.note = note
        self.text = note.text
        self.ruler = ruler
        self.body = (note.body_start, len(note.text))

    @cached_property
    def outline(self) -> Outline:
        return Outline(self.note)

    @cached_property
    def blocks(self) -> list[Element]:
        return blocks_of(self.note)

    @cached_property
    def paragraphs(self) -> list[Paragraph]:
        return paragraphs_of_blocks(self.blocks, len(self.text))

    def splitter(self, limit: int, loose: frozenset[ElementKind] = frozenset()) -> BlockSplitter:
        return BlockSplitter(self.text, self.ruler, self.ruler.room(limit), loose)

    def fit(self, spans: Iterable[Span], limit: int) -> list[Draft]:
        """The spans as drafts, trimmed, with no content over `limit`; blank ones are dropped."""
        drafts = trim_drafts(self.text, [Draft(start, end) for start, end in spans])
        return fit(self.text, drafts, self.ruler, limit)


class DraftChunker(ABC, Generic[Options]):
    """The base class of strategies: `drafts` decides where a note is split; everything else is common to all.

    `tokenizer` is required only if the options count in tokens.
    """

    strategy = ""

    def __init__(self, options: Options, tokenizer: Tokenizer | None = None) -> None:
        self._options = options
        self._tokenizer = tokenizer

    def chunk(self, note: Note) -> list[Chunk]:
        layout = NoteLayout(note, self.ruler(note.text))
        return assemble(note, self.strategy, self.drafts(layout), layout.outline)

    def ruler(self, text: str) -> Ruler:
        return ruler_for(text, getattr(self._options, "size_unit", "characters"), self._tokenizer)

    @abstractmethod
    def drafts(self, layout: NoteLayout) -> list[Draft]:
        """The spans of the chunks, trimmed and in order."""


@record
class Splitter:
    """Splits units at blocks into pieces of nearly equal size, with overlap in addition to the limit.

    Overlap is the end of the previous piece, but never extends back over a heading. A limit in tokens
    includes everything in a chunk: also the overlap, and the headings that `context` returns for a position.
    """

    outline: Outline
    blocks: Sequence[Element]
    block_splitter: BlockSplitter
    overlap: int
    context: Callable[[int], str] = field(default=lambda _: "")

    def split(self, units: Sequence[Unit], minimum: int) -> list[Draft]:
        """All units as drafts. A single unit below the minimum after a unit that was split joins the last
        piece of that, if both fit."""
        drafts: list[Draft] = []
        for family, unit in enumerate(units):
            if drafts and self._is_remainder(drafts[-1], unit, minimum):
                drafts[-1] = replace(drafts[-1], end=unit.end)
            else:
                drafts.extend(self.drafts(unit, family))
        return drafts

    def _is_remainder(self, last: Draft, unit: Unit, minimum: int) -> bool:
        ruler = self.block_splitter.ruler
        if last.family is None or ruler.size(unit.start, unit.end) >= minimum:
            return False
        return ruler.size(last.start, unit.end) <= self._limit(replace(unit, start=last.start))

    def drafts(self, unit: Unit, family: int) -> list[Draft]:
        """The unit as drafts: one if it fits, otherwise pieces of the given family."""
        block_splitter = replace(self.block_splitter, limit=self._limit(unit))
        if block_splitter.ruler.size(unit.start, unit.end) <= block_splitter.limit:
            return [Draft(unit.start, unit.end, context=self.context(unit.start))]
        if isinstance(block_splitter.ruler, Tokens):  # the overlap needs room as well
            block_splitter = replace(block_splitter, limit=max(block_splitter.limit - self.overlap, 1))
        atoms = block_splitter.atoms(within(self.blocks, unit.start, unit.end), unit.end)
        drafts: list[Draft] = []
        previous: Span | None = None
        spans = pack(atoms, block_splitter.ruler, block_splitter.limit)
        for start, end in self._pieces(spans, block_splitter):
            overlap, context = self._tail(previous, start), self.context(start)
            drafts.append(Draft(start, end, family=family, overlap=overlap, context=context))
            previous = (start, end)
        return drafts

    def _limit(self, unit: Unit) -> int:
        """The part of the limit that remains for the unit's own text with the longest of its contexts."""
        ruler, limit = self.block_splitter.ruler, self.block_splitter.limit
        if not isinstance(ruler, Tokens):
            return limit
        starts = [unit.start, *(start + 1 for start in self.outline.section_starts(unit.start, unit.end))]
        longest = max(ruler.count(context) for context in {self.context(start) for start in starts})
        return ruler.room(limit - min(longest, limit // 2))

    def _pieces(self, spans: Sequence[Span], block_splitter: BlockSplitter) -> list[Span]:
        """The pieces as stored: they touch, so that joined they equal the section.

        White space between two pieces stays at the end of the first, if it fits the limit. Then a piece's
        overlap continues into its body as it does in the note.
        """
        text, ruler = block_splitter.text, block_splitter.ruler
        kept: list[Span] = []
        for start, end in spans:
            bare_start, bare_end = trim(text, start, end)
            if bare_end > bare_start:
                roomy = ruler.at(end) - ruler.at(bare_start) <= block_splitter.limit
                kept.append((bare_start, end if roomy else bare_end))
        kept[-1:] = [trim(text, *kept[-1])] if kept else []
        return kept

    def _tail(self, previous: Span | None, start: int) -> str:
        """The end of the previous piece, limited to the section that contains `start`."""
        if previous is None or not self.overlap:
            return ""
        earliest = self.block_splitter.ruler.back(previous[1], self.overlap)
        begin = max(earliest, previous[0], self.outline.section_start(start))
        if isinstance(self.block_splitter.ruler, Marks):
            begin = word_start(self.block_splitter.text, begin, previous[1])
        return self.block_splitter.text[begin : previous[1]]


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


def _fit(text: str, draft: Draft, ruler: Tokens, limit: int) -> Iterator[Draft]:
    count = ruler.count(join_context(draft.context, draft.overlap + text[draft.start : draft.end]))
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
    # A quarter more than half, so that a word in the middle does not lead to a third part.
    parts = [trim(text, *part) for part in pack(words, ruler, half + half // 4 + 1)]
    parts = [part for part in parts if part[1] > part[0]]
    if len(parts) > 1 or end - start < 2:
        return parts
    middle = (start + end) // 2
    return [(start, middle), (middle, end)]
