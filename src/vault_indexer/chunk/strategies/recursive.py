"""`recursive`: splits at the coarsest of a list of separators that makes the parts small enough."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Outline,
    Span,
    Window,
    fit,
    ruler_for,
    slide,
    trim,
    windows,
)
from vault_indexer.config.tables.chunking_options import RecursiveOptions
from vault_indexer.model import JsonValue, Note


class RecursiveChunker(DraftChunker[RecursiveOptions]):
    """Separators from coarse to fine; parts that are still too long are split at words."""

    strategy = "recursive"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        text, ruler = note.text, ruler_for(note.text, self._options.size_unit, self._tokenizer)
        splitter = BlockSplitter(text, ruler, ruler.room(self._options.chunk_size))
        start, end = trim(text, note.body_start, len(text))
        spans = list(self._split(splitter, start, end, self._options.separators)) if end > start else []
        found = slide(text, spans, ruler, ruler.room(self._options.chunk_size), self._options.chunk_overlap)
        if not self._options.keep_separator:
            found = [self._without_separators(text, window, start, end) for window in found]
        drafts = windows(text, found)
        if self._options.keep_separator:
            ends = [window.end for window in found if text[window.start : window.end].strip()]
            drafts = [
                replace(draft, end=self._end(draft, end)) for draft, end in zip(drafts, ends, strict=True)
            ]
        drafts = fit(text, drafts, ruler, self._options.chunk_size)
        told: dict[str, JsonValue] = {"separators": list(self._options.separators)}
        return [draft.with_extra(told) for draft in drafts]

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
        at_end = self._options.separator_position == "end"
        body = text[window.start : window.end]
        if at_end and window.end < end:
            dropped = next(
                (
                    separator
                    for separator in self._options.separators
                    if separator and body.endswith(separator)
                ),
                "",
            )
            return replace(window, end=window.end - len(dropped))
        if not at_end and window.start > first:
            dropped = next((one for one in self._options.separators if one and body.startswith(one)), "")
            start = window.start + len(dropped)
            repeats = window.overlap_start < window.start
            return replace(window, overlap_start=window.overlap_start if repeats else start, start=start)
        return window

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
