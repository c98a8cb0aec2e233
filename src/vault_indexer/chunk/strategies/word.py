"""`word`: a window of a fixed number of words slides over the note."""

from __future__ import annotations

from vault_indexer.chunk.cutting import Draft, DraftChunker, Marks, Outline, slide, tile, windows
from vault_indexer.config.tables.chunking_options import WordOptions
from vault_indexer.model import Note
from vault_indexer.patterns import TextPattern


class WordChunker(DraftChunker[WordOptions]):
    """Windows of words, regardless of the note's structure."""

    strategy = "word"

    def __init__(self, options: WordOptions) -> None:
        super().__init__(options)
        self._pattern = TextPattern(options.word_pattern)

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        """All chunks of the note; the repeated words are the chunk's `overlap`, not its body."""
        text, end = note.text, len(note.text)
        words = list(self._pattern.spans(text, note.body_start))
        words = words or [(note.body_start, end)]
        ruler = Marks(text, [start for start, _ in words])
        spans = list(tile(words, note.body_start, end))
        found = slide(text, spans, ruler, self._options.chunk_size, self._options.chunk_overlap)
        return windows(text, found)
