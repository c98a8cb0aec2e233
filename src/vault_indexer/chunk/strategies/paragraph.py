"""`paragraph`: whole paragraphs, the short ones gathered, the long ones split at sentences."""

from __future__ import annotations

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Outline,
    Paragraph,
    Ruler,
    Span,
    blocks_of,
    ends_sentence,
    fit,
    paragraphs_of,
    ruler_for,
    sentence_pieces,
    trim_drafts,
)
from vault_indexer.config.tables.chunking_options import ParagraphOptions
from vault_indexer.model import Note


class ParagraphChunker(DraftChunker[ParagraphOptions]):
    """A chunk is the fewest paragraphs that are long enough and end a sentence."""

    strategy = "paragraph"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        block_splitter = BlockSplitter(note.text, ruler, ruler.room(self._options.max_chars))
        blocks = blocks_of(note)
        spans: list[Span] = []
        for span in self._gather(note, ruler):
            spans.extend(sentence_pieces(block_splitter, blocks, span))
        drafts = trim_drafts(note.text, [Draft(start, end) for start, end in spans])
        return fit(note.text, drafts, ruler, self._options.max_chars)

    def _gather(self, note: Note, ruler: Ruler) -> list[Span]:
        spans: list[Span] = []
        open_span: Span | None = None
        for paragraph in paragraphs_of(note):
            if open_span and self._closes_before(ruler, open_span, paragraph):
                spans.append(open_span)
                open_span = None
            open_span = (open_span[0] if open_span else paragraph.start, paragraph.end)
            if self._long_enough(ruler, open_span) and ends_sentence(note.text, paragraph):
                spans.append(open_span)
                open_span = None
        return [*spans, open_span] if open_span else spans

    def _closes_before(self, ruler: Ruler, open_span: Span, paragraph: Paragraph) -> bool:
        """Whether the chunk ends before the paragraph: a heading closes a chunk that is long enough, and one
        that would become too long is closed in any case."""
        if paragraph.has_heading and self._long_enough(ruler, open_span):
            return True
        return ruler.size(open_span[0], paragraph.end) > self._options.max_chars

    def _long_enough(self, ruler: Ruler, span: Span) -> bool:
        return ruler.size(*span) >= self._options.min_chars
