"""`markdown`: the structure of the note decides, and every part of that can be tuned."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    Joiner,
    Outline,
    Splitter,
    assemble,
    blocks_of,
    ruler_for,
    units_of,
)
from vault_indexer.config.chunking_options import MarkdownOptions
from vault_indexer.model import Chunk, ElementKind, Note
from vault_indexer.ports import Tokenizer

STRATEGY = "markdown"


class MarkdownChunker:
    """`header_based` with sizes in any unit, headings of chosen levels and blocks that may be split."""

    strategy = STRATEGY

    def __init__(self, options: MarkdownOptions, tokenizer: Tokenizer | None) -> None:
        self._options = options
        self._tokenizer = tokenizer
        respected = {
            ElementKind.CODE: options.respect_code_blocks,
            ElementKind.LIST: options.respect_lists,
            ElementKind.TABLE: options.respect_tables,
            ElementKind.QUOTE: options.respect_blockquotes,
        }
        self._loose = frozenset(kind for kind, respect in respected.items() if not respect)

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note."""
        options = self._options
        ruler = ruler_for(note.text, options.size_unit, self._tokenizer)
        outline = Outline(note)
        block_splitter = BlockSplitter(note.text, ruler, options.max_chunk_size, self._loose)
        splitter = Splitter(outline, blocks_of(note), block_splitter, options.overlap)
        units = units_of(note, {0, *options.header_levels})
        drafts: list[Draft] = []
        for family, unit in enumerate(
            Joiner(ruler, options.min_chunk_size, options.max_chunk_size).join(units)
        ):
            drafts.extend(splitter.drafts(unit, family))
        return assemble(note, STRATEGY, [self._with_context(outline, draft) for draft in drafts], outline)

    def _with_context(self, outline: Outline, draft: Draft) -> Draft:
        if not self._options.include_header_context:
            return draft
        match self._options.header_context_format:
            case "breadcrumb":
                return replace(draft, context=outline.context(draft.start))
            case "full":
                return replace(draft, context=outline.headings(draft.start))
            case "prefix":
                above = outline.context(draft.start)
                return replace(draft, extra={"header_context": above}) if above else draft
