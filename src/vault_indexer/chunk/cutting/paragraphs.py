"""Paragraphs as the strategies that gather them see them: with their headings, whole or in sentences."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.chunk.cutting.blocks import BlockSplitter, blocks_of, touching
from vault_indexer.chunk.cutting.packing import pack
from vault_indexer.chunk.cutting.spans import Span
from vault_indexer.model import Element, ElementKind, Note

_CLOSERS = "\"'”’»›)]}*_`」』）】》〉"
_STOPS = tuple(".!?…。！？｡।؟۔")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block with the headings right above it. `text_start` is where the block itself begins."""

    start: int
    end: int
    text_start: int
    kind: ElementKind

    @property
    def has_heading(self) -> bool:
        """Whether a heading stands above it."""
        return self.text_start > self.start


def paragraphs_of(note: Note) -> list[Paragraph]:
    """The note's blocks; spans touch, so that each ends where the next begins."""
    return paragraphs_of_blocks(blocks_of(note), len(note.text))


def paragraphs_of_blocks(blocks: Sequence[Element], end: int) -> list[Paragraph]:
    """Blocks with the headings above them; headings with nothing below them are one of their own."""
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
    """The numbers of the paragraphs of which a part lies in start to end; `paragraphs` are in order."""
    return range(
        bisect_right(paragraphs, start, key=lambda paragraph: paragraph.end),
        bisect_left(paragraphs, end, key=lambda paragraph: paragraph.start),
    )


def ends_sentence(text: str, paragraph: Paragraph) -> bool:
    """Whether a reader would pause after it: prose that ends with a stop, or any other block."""
    if paragraph.kind is not ElementKind.PARAGRAPH:
        return paragraph.kind is not ElementKind.HEADING
    last_words = text[max(paragraph.start, paragraph.end - 400) : paragraph.end]
    return last_words.rstrip().rstrip(_CLOSERS).endswith(_STOPS)


def sentence_pieces(block_splitter: BlockSplitter, blocks: Sequence[Element], end: int) -> list[Span]:
    """Blocks that together are too long, in pieces of nearly equal size."""
    return pack(block_splitter.atoms(blocks, end), block_splitter.ruler, block_splitter.limit)
