"""Splits a section that is too long into pieces that are marked as siblings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk.cutting.assemble import Draft, pack
from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of, touching, within
from vault_indexer.chunk.cutting.sections import Outline, Unit
from vault_indexer.chunk.cutting.sizes import Characters, Tokens
from vault_indexer.chunk.cutting.spans import Span, trim, word_start
from vault_indexer.model import Element, ElementKind, Note

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Floats32


@dataclass(frozen=True, slots=True)
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
        block_splitter = replace(block_splitter, limit=self._room_beside_overlap(block_splitter.limit))
        atoms = block_splitter.atoms(within(self.blocks, unit.start, unit.end), unit.end)
        drafts: list[Draft] = []
        previous: Span | None = None
        for start, end in self._pieces(
            pack(atoms, block_splitter.ruler, block_splitter.limit), block_splitter
        ):
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

    def _room_beside_overlap(self, limit: int) -> int:
        return max(limit - self.overlap, 1) if isinstance(self.block_splitter.ruler, Tokens) else limit

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
        if not isinstance(self.block_splitter.ruler, Characters):
            begin = word_start(self.block_splitter.text, begin, previous[1])
        return self.block_splitter.text[begin : previous[1]]


# Paragraphs for the strategies that gather them: with their headings, whole or in sentences.


_CLOSERS = "\"'”’»›)]}*_`」』）】》〉"
_STOPS = tuple(".!?…。！？｡।؟۔")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block with the headings directly above it. `text_start` is the start of the block itself."""

    start: int
    end: int
    text_start: int
    kind: ElementKind

    @property
    def has_heading(self) -> bool:
        return self.text_start > self.start


def paragraphs_of(note: Note) -> list[Paragraph]:
    """The note's blocks; spans touch, so that each ends where the next begins."""
    return paragraphs_of_blocks(blocks_of(note), len(note.text))


def paragraphs_of_blocks(blocks: Sequence[Element], end: int) -> list[Paragraph]:
    """Blocks with the headings above them; headings with no text below them form a paragraph of their own."""
    found: list[Paragraph] = []
    heading: int | None = None
    for block, (start, stop) in touching(blocks, end):
        if block.kind is ElementKind.HEADING:
            heading = start if heading is None else heading
        else:
            found.append(Paragraph(start if heading is None else heading, stop, start, block.kind))
            heading = None
    if heading is not None:
        found.append(Paragraph(heading, end, heading, ElementKind.HEADING))
    return found


def paragraph_numbers(paragraphs: Sequence[Paragraph], start: int, end: int) -> range:
    """The numbers of the paragraphs that overlap start to end; `paragraphs` are in order."""
    return range(
        bisect_right(paragraphs, start, key=lambda paragraph: paragraph.end),
        bisect_left(paragraphs, end, key=lambda paragraph: paragraph.start),
    )


def ends_sentence(text: str, paragraph: Paragraph) -> bool:
    """Whether a reader would pause after it: prose that ends with a full stop, or any other block."""
    if paragraph.kind is not ElementKind.PARAGRAPH:
        return paragraph.kind is not ElementKind.HEADING
    last_words = text[max(paragraph.start, paragraph.end - 400) : paragraph.end]
    return last_words.rstrip().rstrip(_CLOSERS).endswith(_STOPS)


def sentence_pieces(
    block_splitter: BlockSplitter, blocks: Sequence[Element], span: Span, longest: int | None = None
) -> list[Span]:
    """The span itself, or its pieces of nearly equal size if it is longer than `longest` (by default the
    splitter's limit)."""
    start, end = span
    ruler, limit = block_splitter.ruler, block_splitter.limit
    if ruler.size(start, end) <= (limit if longest is None else longest):
        return [span]
    return pack(block_splitter.atoms(within(blocks, start, end), end), ruler, limit)


# The best division of a sequence of embedded segments into chunks, found by dynamic programming.
#
# The idea is that of the ClusterSemanticChunker in Chroma's report "Evaluating Chunking Strategies for
# Retrieval" (2024): choose the division with the most coherent chunks, instead of splitting wherever two
# neighbours differ. Here the worth of a chunk is the length of the sum of its segments' vectors, each
# weighted by its number of characters:
#
# worth = |Σ lengthᵢ · vectorᵢ| = sqrt(Σᵢⱼ lengthᵢ lengthⱼ cos(i, j))
#
# This is the number of its characters about a common subject. Joining never increases it, so every chunk has
# a price, and a border inside a paragraph costs extra. Similarities are needed only between segments that may
# share a chunk: time and memory are linear in the length of the note, not quadratic.


# Chosen on benchmarks/chunking.py: with these, recall and IoU are ahead of the other libraries' splitters
# from 100 to 400 tokens per chunk. Both are in characters, the price at a limit of 1,000.
_PRICE = 52.0
_PRICE_GROWTH = 1.2
_CUT_PARAGRAPH = 150.0


def best_division(vectors: Floats32, lengths: Sequence[int], opens: Sequence[bool], limit: int) -> list[int]:
    """The index of the first segment of each chunk, and at the end the number of segments.

    `vectors` are unit vectors, shape (segments, dimension); `opens` marks the segments that begin a
    paragraph. No chunk is longer than `limit` characters, unless it is a single segment.
    """
    count = len(lengths)
    ends = np.cumsum(lengths)
    # The earliest segment that may share a chunk with each.
    earliest = np.minimum(np.searchsorted(ends - lengths, ends - limit, side="left"), np.arange(count))
    worth = _worths(vectors, lengths, int((np.arange(count) - earliest).max()) + 1)
    cost = _PRICE * (limit / 1000) ** _PRICE_GROWTH + np.where(opens, 0.0, _CUT_PARAGRAPH)
    best = np.zeros(count + 1)
    begins = np.zeros(count, dtype=np.int64)
    for last in range(count):
        first = int(earliest[last])
        # The worth of a chunk of d segments that ends with `last` is worth[last, d - 1].
        values = best[first : last + 1] - cost[first : last + 1] + worth[last, : last - first + 1][::-1]
        choice = int(values.argmax())
        begins[last] = first + choice
        best[last + 1] = values[choice]
    found = [count]
    while found[-1] > 0:
        found.append(int(begins[found[-1] - 1]))
    return found[::-1]


def _worths(vectors: Floats32, lengths: Sequence[int], widest: int) -> Floats:
    """For each segment and each d below `widest`: the worth of the d + 1 segments that end with it."""
    count = len(lengths)
    weighted = vectors * np.asarray(lengths, dtype=np.float32)[:, None]
    squares = np.einsum("ij,ij->i", weighted, weighted).astype(np.float64)
    worths = np.zeros((count, widest))
    worths[:, 0] = np.sqrt(squares)
    # For the chunk of d + 1 segments from i on: its squared worth, and the contribution of its last segment
    # in pairs.
    squared, pairs = squares, np.zeros(count)
    for d in range(1, widest):
        pairs = np.einsum("ij,ij->i", weighted[:-d], weighted[d:]) + pairs[1 : count - d + 1]
        squared = squared[: count - d] + squares[d:] + 2 * pairs
        worths[d:, d] = np.sqrt(np.maximum(squared, 0.0))
    return worths
