"""`boundary`: sentences, paragraphs or sections, and lines that the user's own patterns name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Joiner,
    Outline,
    Ruler,
    Span,
    Unit,
    Window,
    assemble,
    blocks_of,
    paragraphs_of,
    ruler_for,
    sentence_pieces,
    sentence_spans,
    tile,
    units_of,
    windows,
    within,
    word_start,
)
from vault_indexer.config.chunking_options import BoundaryOptions
from vault_indexer.model import Chunk, Note
from vault_indexer.patterns import TextPattern
from vault_indexer.ports import Tokenizer

STRATEGY = "boundary"


class BoundaryChunker:
    """A unit is a chunk; small ones are joined, long ones split at the next finer boundary."""

    strategy = STRATEGY

    def __init__(self, options: BoundaryOptions, tokenizer: Tokenizer | None) -> None:
        self._options = options
        self._tokenizer = tokenizer
        self._patterns = [TextPattern(pattern) for pattern in options.patterns]

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note."""
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        spans = self._fit_sizes(note, ruler, self._join(self._units(note), ruler))
        return assemble(
            note, STRATEGY, windows(note.text, self._windows(note.text, ruler, spans)), Outline(note)
        )

    def _units(self, note: Note) -> list[Unit]:
        outline = Outline(note)
        borders = {start for start, _ in self._natural(note)}
        for pattern in self._patterns:
            borders.update(start for start, _ in pattern.spans(note.text, note.body_start))
        ordered = sorted({note.body_start, len(note.text), *borders})
        return [
            Unit(start, end, section.level if (section := outline.section(start)) else 0)
            for start, end in pairwise(ordered)
            if note.text[start:end].strip()
        ]

    def _natural(self, note: Note) -> Iterator[Span]:
        """The units as the note has them; a heading belongs to what follows it."""
        if self._options.split_on == "section":
            yield from ((unit.start, unit.end) for unit in units_of(note))
            return
        for paragraph in paragraphs_of(note):
            if self._options.split_on == "paragraph":
                yield paragraph.start, paragraph.end
                continue
            inner = sentence_spans(note.text, paragraph.text_start, paragraph.end)
            yield from tile(inner, paragraph.start, paragraph.end)

    def _join(self, units: list[Unit], ruler: Ruler) -> list[Unit]:
        if not self._options.merge_small_chunks:
            return units
        return Joiner(ruler, self._options.min_chunk_size, self._options.max_chunk_size).join(units)

    def _fit_sizes(self, note: Note, ruler: Ruler, units: Sequence[Unit]) -> list[Span]:
        block_splitter = BlockSplitter(note.text, ruler, self._options.max_chunk_size)
        blocks = blocks_of(note)
        spans: list[Span] = []
        for unit in units:
            if ruler.size(unit.start, unit.end) <= block_splitter.limit:
                spans.append((unit.start, unit.end))
            else:
                spans.extend(sentence_pieces(block_splitter, within(blocks, unit.start, unit.end), unit.end))
        return [(start, end) for start, end in spans if note.text[start:end].strip()]

    def _windows(self, text: str, ruler: Ruler, spans: Sequence[Span]) -> list[Window]:
        counted = ruler_for(text, "words", None) if self._options.overlap.mode == "words" else ruler
        found: list[Window] = []
        for before, (start, end) in zip([None, *spans], spans, strict=False):
            repeated = self._overlap_start(text, counted, before) if before else start
            found.append(Window(repeated, start, end))
        return found

    def _overlap_start(self, text: str, ruler: Ruler, before: Span) -> int:
        """Where the part of the chunk before begins that the next one repeats; its end for none."""
        overlap, (start, end) = self._options.overlap, before
        if not overlap.value:
            return end
        if overlap.mode == "sentence":
            last = sentence_spans(text, start, end)[-overlap.value :]
            return last[0][0] if last else end
        size = overlap.value if overlap.mode == "words" else ruler.size(start, end) * overlap.value // 100
        return word_start(text, max(start, ruler.back(end, size)), end)
