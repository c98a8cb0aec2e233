"""The strategies that pack units of text up to a size, whatever the outline: `word`, `token`, `recursive`,
`boundary`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from vault_indexer.chunk.cutting.assemble import Draft, DraftChunker, NoteLayout, fit, windows
from vault_indexer.chunk.cutting.blocks import BlockSplitter, sentence_pieces
from vault_indexer.chunk.cutting.sections import units_of
from vault_indexer.chunk.cutting.spans import (
    Marks,
    Ruler,
    Span,
    Tokens,
    Window,
    pack,
    ruler_for,
    sentence_spans,
    slide,
    tile,
    token_ruler,
    trim,
    word_start,
)
from vault_indexer.config.tables.chunking_options import (
    BoundaryOptions,
    RecursiveOptions,
    TokenOptions,
    WordOptions,
)
from vault_indexer.model import JsonValue
from vault_indexer.patterns import TextPattern
from vault_indexer.ports import Tokenizer


class WordChunker(DraftChunker[WordOptions]):
    """A window of a fixed number of words slides over the note, regardless of its structure. The repeated
    words are the chunk's `overlap`, not its body."""

    strategy = "word"

    def __init__(self, options: WordOptions) -> None:
        super().__init__(options)
        self._pattern = TextPattern(options.word_pattern)

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        text, body = layout.text, layout.body
        words = list(self._pattern.spans(text, body[0])) or [body]
        ruler = Marks(text, [start for start, _ in words])
        spans = list(tile(words, *body))
        return windows(text, slide(text, spans, ruler, self._options.chunk_size, self._options.chunk_overlap))


class TokenChunker(DraftChunker[TokenOptions]):
    """Windows that never exceed the input size of a model; their edges are at sentences, or at words."""

    strategy = "token"

    def ruler(self, text: str) -> Tokens:
        return token_ruler(text, self._tokenizer)

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        """All chunks of the note. With `truncate`, only the first, which reports the dropped text."""
        options, text, ruler = self._options, layout.text, layout.ruler
        splitter = layout.splitter(options.max_tokens)
        spans = list(self._spans(splitter, *layout.body))
        found = windows(text, slide(text, spans, ruler, splitter.limit, options.overlap_tokens))
        drafts = fit(text, found, ruler, options.max_tokens)
        if options.overflow == "truncate" and len(drafts) > 1:
            start, end = drafts[0].end, len(text)
            dropped: dict[str, JsonValue] = {"dropped_start": start, "dropped_end": end}
            drafts = [drafts[0].with_extra({**dropped, "dropped_tokens": ruler.size(start, end)})]
        return [draft.with_extra({"tokenizer": options.tokenizer or "embedding model"}) for draft in drafts]

    def _spans(self, splitter: BlockSplitter, start: int, end: int) -> Iterator[Span]:
        if not self._options.preserve_sentences:
            yield from splitter.words(start, end)
            return
        for sentence in tile(sentence_spans(splitter.text, start, end), start, end):
            yield from splitter.sentence(*sentence)


class RecursiveChunker(DraftChunker[RecursiveOptions]):
    """Splits at the coarsest of a list of separators that makes the parts small enough; parts that are still
    too long are split at words."""

    strategy = "recursive"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        text, options = layout.text, self._options
        splitter = layout.splitter(options.chunk_size)
        start, end = trim(text, *layout.body)
        spans = list(self._split(splitter, start, end, options.separators)) if end > start else []
        found = slide(text, spans, layout.ruler, splitter.limit, options.chunk_overlap)
        if not options.keep_separator:
            found = [self._without_separators(text, window, start, end) for window in found]
        drafts = windows(text, found)
        if options.keep_separator:
            ends = [window.end for window in found if text[window.start : window.end].strip()]
            drafts = [
                replace(draft, end=self._end(draft, end)) for draft, end in zip(drafts, ends, strict=True)
            ]
        told: dict[str, JsonValue] = {"separators": list(options.separators)}
        return [draft.with_extra(told) for draft in fit(text, drafts, layout.ruler, options.chunk_size)]

    def _split(
        self, splitter: BlockSplitter, start: int, end: int, separators: Sequence[str]
    ) -> Iterator[Span]:
        """Touching spans that are small enough. Every separator is tried once on each part."""
        if splitter.ruler.size(start, end) <= splitter.limit:
            yield start, end
        elif not separators:
            yield from splitter.words(start, end)
        elif not separators[0]:
            yield from splitter.ruler.parts(start, end, splitter.limit)
        else:
            for inner in self._split_at(splitter.text, start, end, separators[0]):
                yield from self._split(splitter, *inner, separators[1:])

    def _end(self, draft: Draft, end: int) -> int:
        """The end of the draft including its separator, as far as the size allows: rulers ignore blanks at an
        end."""
        if self._options.size_unit != "characters":
            return end
        return min(end, max(draft.end, draft.start + self._options.chunk_size))

    def _without_separators(self, text: str, window: Window, first: int, end: int) -> Window:
        """The window without the separator at which it was split from its neighbour."""
        body = text[window.start : window.end]
        separators = list(filter(None, self._options.separators))
        if self._options.separator_position == "end":
            if window.end >= end:
                return window
            return replace(window, end=window.end - len(next(filter(body.endswith, separators), "")))
        if window.start <= first:
            return window
        start = window.start + len(next(filter(body.startswith, separators), ""))
        repeats = window.overlap_start < window.start
        return replace(window, overlap_start=window.overlap_start if repeats else start, start=start)

    def _split_at(self, text: str, start: int, end: int, separator: str) -> Iterator[Span]:
        at_end = self._options.separator_position == "end"
        begin = start
        for match in re.compile(re.escape(separator)).finditer(text, start, end):
            split_at = match.end() if at_end else match.start()
            if split_at > begin:
                yield begin, split_at
                begin = split_at
        if begin < end:
            yield begin, end


class BoundaryChunker(DraftChunker[BoundaryOptions]):
    """Sentences, paragraphs or sections, and lines that match the user's patterns, packed up to the maximum,
    or one chunk per unit; long ones are split at the next finer boundary.

    `extra`: `split_on`, `size_unit`.
    """

    strategy = "boundary"

    def __init__(self, options: BoundaryOptions, tokenizer: Tokenizer | None) -> None:
        super().__init__(options, tokenizer)
        self._patterns = [TextPattern(pattern) for pattern in options.patterns]

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        options, text, ruler = self._options, layout.text, layout.ruler
        drafts = windows(text, self._windows(text, ruler, self._pieces(layout)))
        told: dict[str, JsonValue] = {"split_on": options.split_on, "size_unit": options.size_unit}
        return [draft.with_extra(told) for draft in fit(text, drafts, ruler, options.max_chunk_size)]

    def _units(self, layout: NoteLayout) -> list[Span]:
        """Touching spans from one boundary to the next; none is blank."""
        text = layout.text
        borders = set() if self._options.replace_patterns else {start for start, _ in self._natural(layout)}
        for pattern in self._patterns:
            borders.update(start for start, _ in pattern.spans(text, layout.body[0]))
        ordered = sorted({*layout.body, *borders})
        return [(start, end) for start, end in pairwise(ordered) if text[start:end].strip()]

    def _natural(self, layout: NoteLayout) -> Iterator[Span]:
        """The natural units of the note; a heading belongs to the text after it."""
        if self._options.split_on == "section":
            yield from ((unit.start, unit.end) for unit in units_of(layout.note))
            return
        for paragraph in layout.paragraphs:
            if self._options.split_on == "paragraph":
                yield paragraph.start, paragraph.end
                continue
            inner = sentence_spans(layout.text, paragraph.text_start, paragraph.end)
            yield from tile(inner, paragraph.start, paragraph.end)

    def _pieces(self, layout: NoteLayout) -> list[Span]:
        """The units packed and split, so that each piece is within the maximum. A unit below the minimum next
        to a unit that was split joins a neighbour."""
        text, ruler, limit = layout.text, layout.ruler, self._limit(layout.ruler)
        splitter = BlockSplitter(text, ruler, limit)
        units = self._units(layout)
        spans: list[Span] = []
        for span in pack(units, ruler, limit) if self._options.merge_small_chunks else units:
            spans.extend(sentence_pieces(splitter, layout.blocks, span))
        spans = [(start, end) for start, end in spans if text[start:end].strip()]
        return self._join_small(ruler, spans, limit) if self._options.merge_small_chunks else spans

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

    def _windows(self, text: str, ruler: Ruler, spans: Sequence[Span]) -> Iterator[Window]:
        mode = self._options.overlap.mode
        if mode in {"words", "characters", "tokens"} and mode != self._options.size_unit:
            ruler = ruler_for(text, mode, self._tokenizer)
        for before, (start, end) in zip([None, *spans], spans, strict=False):
            repeated = self._overlap_start(text, ruler, before) if before else start
            yield Window(repeated, start, end)

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
