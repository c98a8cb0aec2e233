"""`boundary`: packs sentences, paragraphs or sections, and lines that match the user's patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Outline,
    Ruler,
    Span,
    Window,
    blocks_of,
    fit,
    pack,
    paragraphs_of,
    ruler_for,
    sentence_pieces,
    sentence_spans,
    tile,
    units_of,
    windows,
    word_start,
)
from vault_indexer.config.tables.chunking_options import BoundaryOptions
from vault_indexer.model import JsonValue, Note
from vault_indexer.patterns import TextPattern
from vault_indexer.ports import Tokenizer


class BoundaryChunker(DraftChunker[BoundaryOptions]):
    """Units packed up to the maximum, or one chunk per unit; long ones are split at the next finer boundary.

    `extra`: `split_on`, `size_unit`.
    """

    strategy = "boundary"

    def __init__(self, options: BoundaryOptions, tokenizer: Tokenizer | None) -> None:
        super().__init__(options, tokenizer)
        self._patterns = [TextPattern(pattern) for pattern in options.patterns]

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        options = self._options
        ruler = ruler_for(note.text, options.size_unit, self._tokenizer)
        spans = self._pieces(note, ruler, self._units(note))
        drafts = windows(note.text, self._windows(note.text, ruler, spans))
        told: dict[str, JsonValue] = {"split_on": options.split_on, "size_unit": options.size_unit}
        drafts = fit(note.text, drafts, ruler, options.max_chunk_size)
        return [draft.with_extra(told) for draft in drafts]

    def _units(self, note: Note) -> list[Span]:
        """Touching spans from one boundary to the next; none is blank."""
        borders = set() if self._options.replace_patterns else {start for start, _ in self._natural(note)}
        for pattern in self._patterns:
            borders.update(start for start, _ in pattern.spans(note.text, note.body_start))
        ordered = sorted({note.body_start, len(note.text), *borders})
        return [(start, end) for start, end in pairwise(ordered) if note.text[start:end].strip()]

    def _natural(self, note: Note) -> Iterator[Span]:
        """The natural units of the note; a heading belongs to the text after it."""
        if self._options.split_on == "section":
            yield from ((unit.start, unit.end) for unit in units_of(note))
            return
        for paragraph in paragraphs_of(note):
            if self._options.split_on == "paragraph":
                yield paragraph.start, paragraph.end
                continue
            inner = sentence_spans(note.text, paragraph.text_start, paragraph.end)
            yield from tile(inner, paragraph.start, paragraph.end)

    def _pieces(self, note: Note, ruler: Ruler, units: list[Span]) -> list[Span]:
        """The units packed and split, so that each piece is within the maximum. A unit below the minimum next
        to a unit that was split joins a neighbour."""
        limit = self._limit(ruler)
        block_splitter = BlockSplitter(note.text, ruler, limit)
        blocks = blocks_of(note)
        spans: list[Span] = []
        for span in pack(units, ruler, limit) if self._options.merge_small_chunks else units:
            spans.extend(sentence_pieces(block_splitter, blocks, span))
        spans = [(start, end) for start, end in spans if note.text[start:end].strip()]
        if not self._options.merge_small_chunks:
            return spans
        return self._join_small(ruler, spans, limit)

    def _join_small(self, ruler: Ruler, spans: list[Span], limit: int) -> list[Span]:
        least = self._options.min_chunk_size
        joined: list[Span] = []
        for start, end in spans:
            is_small = ruler.size(start, end) < least or (joined and ruler.size(*joined[-1]) < least)
            if joined and is_small and ruler.size(joined[-1][0], end) <= limit:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
        return joined

    def _limit(self, ruler: Ruler) -> int:
        """The size for packing. Overlap is added to it, except for tokens, where it needs its own room."""
        options, overlap = self._options, self._options.overlap
        if options.size_unit != "tokens" or not overlap.value:
            return ruler.room(options.max_chunk_size)
        room = {
            "tokens": overlap.value,
            "words": 2 * overlap.value,
            "percentage": options.max_chunk_size * overlap.value // 100,
        }
        quarter = options.max_chunk_size // 4
        return ruler.room(options.max_chunk_size - min(room.get(overlap.mode, quarter), 2 * quarter))

    def _windows(self, text: str, ruler: Ruler, spans: Sequence[Span]) -> list[Window]:
        mode = self._options.overlap.mode
        counted = ruler
        if mode in {"words", "characters", "tokens"} and mode != self._options.size_unit:
            counted = ruler_for(text, mode, self._tokenizer)
        found: list[Window] = []
        for before, (start, end) in zip([None, *spans], spans, strict=False):
            repeated = self._overlap_start(text, counted, before) if before else start
            found.append(Window(repeated, start, end))
        return found

    def _overlap_start(self, text: str, ruler: Ruler, before: Span) -> int:
        """The start of the part of the previous chunk that the next one repeats; its end for no overlap."""
        overlap, (start, end) = self._options.overlap, before
        if not overlap.value:
            return end
        if overlap.mode == "sentence":
            last = sentence_spans(text, start, end)[-overlap.value :]
            return last[0][0] if last else end
        size = overlap.value
        if overlap.mode == "percentage":
            size = ruler.size(start, end) * overlap.value // 100
        return word_start(text, max(start, ruler.back(end, size)), end)
