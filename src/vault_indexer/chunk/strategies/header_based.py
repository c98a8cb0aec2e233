"""`header_based`, the default: chunks begin at headings.

1. Every section (a heading and the text up to the next heading, of any level) is a unit.
2. A unit below `min_chunk_chars` is joined to a neighbour within `max_chunk_chars`: to the next one,
   unless that begins another subject higher in the outline; then to the previous one (`Joiner`).
3. A unit above `max_chunk_chars` is split at blocks into pieces of nearly equal size; a block is split
   only if it alone is too long: at list items or lines, then sentences, then words (`Splitter`).

A joined chunk has the header path of its first section. Overlap is added to the maximum.
"""

from __future__ import annotations

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Characters,
    Draft,
    DraftChunker,
    Joiner,
    Outline,
    Splitter,
    blocks_of,
    units_of,
)
from vault_indexer.config.tables.chunking_options import HeaderBasedOptions
from vault_indexer.model import Note


class HeaderBasedChunker(DraftChunker[HeaderBasedOptions]):
    """Chunks begin at headings; small ones are joined, large ones split."""

    strategy = "header_based"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:
        options = self._options
        ruler = Characters(note.text)
        block_splitter = BlockSplitter(note.text, ruler, options.max_chunk_chars)
        context = outline.context if options.include_parent_headers else lambda _: ""
        splitter = Splitter(outline, blocks_of(note), block_splitter, options.overlap_chars, context)
        units = Joiner(ruler, options.min_chunk_chars, options.max_chunk_chars).join(units_of(note))
        return splitter.split(units, options.min_chunk_chars)
