"""`markdown`: splits by the structure of the note, with an option for every aspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Joiner,
    Outline,
    Splitter,
    blocks_of,
    fit,
    headings_within,
    ruler_for,
    units_of,
    within,
)
from vault_indexer.config.tables.chunking_options import MarkdownOptions
from vault_indexer.model import Element, ElementKind, JsonValue, Note
from vault_indexer.ports import Tokenizer


class MarkdownChunker(DraftChunker[MarkdownOptions]):
    """Like `header_based`, with sizes in any unit, headings of chosen levels and blocks that may be split."""

    strategy = "markdown"

    def __init__(self, options: MarkdownOptions, tokenizer: Tokenizer | None) -> None:
        super().__init__(options, tokenizer)
        respected = {
            ElementKind.CODE: options.respect_code_blocks,
            ElementKind.LIST: options.respect_lists,
            ElementKind.TABLE: options.respect_tables,
            ElementKind.QUOTE: options.respect_blockquotes,
        }
        self._loose = frozenset(kind for kind, respect in respected.items() if not respect)

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:
        options = self._options
        ruler = ruler_for(note.text, options.size_unit, self._tokenizer)
        blocks = blocks_of(note)
        block_splitter = BlockSplitter(note.text, ruler, options.max_chunk_size, self._loose)
        splitter = Splitter(outline, blocks, block_splitter, options.overlap, self._context(outline))
        units = units_of(note, {0, *(options.header_levels or range(1, 7))})
        units = Joiner(ruler, options.min_chunk_size, options.max_chunk_size).join(units)
        drafts = splitter.split(units, options.min_chunk_size)
        drafts = fit(note.text, drafts, ruler, options.max_chunk_size)
        return [self._with_extra(note, outline, draft, blocks) for draft in drafts]

    def _context(self, outline: Outline) -> Callable[[int], str]:
        """A function that returns the context of a chunk by its start."""
        shown = self._options.header_context_format if self._options.include_header_context else "prefix"
        contexts = {"breadcrumb": outline.context, "full": outline.headings}
        return contexts.get(shown, lambda _: "")

    def _with_extra(self, note: Note, outline: Outline, draft: Draft, blocks: Sequence[Element]) -> Draft:
        kinds = {block.kind for block in within(blocks, draft.start, draft.end)}
        headers: list[JsonValue] = [
            {"level": heading.level, "text": heading.text, "line": heading.line}
            for heading in headings_within(note, draft.start, draft.end)
        ]
        extra: dict[str, JsonValue] = {
            "has_code_block": ElementKind.CODE in kinds,
            "has_table": ElementKind.TABLE in kinds,
            "headers": headers,
        }
        above = outline.context(draft.start)
        if above and self._options.include_header_context and self._options.header_context_format == "prefix":
            extra["header_context"] = above
        return draft.with_extra(extra)
