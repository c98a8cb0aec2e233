"""`word`: a window of a fixed number of words slides over the note."""

from __future__ import annotations

from vault_indexer.chunk.cutting import Marks, Outline, assemble, slide, tile, windows
from vault_indexer.config.tables.chunking_options import WordOptions
from vault_indexer.model import Chunk, Note
from vault_indexer.patterns import TextPattern

STRATEGY = "word"


class WordChunker:
    """Windows of words, whatever stands in the note."""

    strategy = STRATEGY

    def __init__(self, options: WordOptions) -> None:
        self._options = options
        self._pattern = TextPattern(options.word_pattern)

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note; the repeated words are the chunk's `overlap`, not its body."""
        text, end = note.text, len(note.text)
        words = list(self._pattern.spans(text, note.body_start))
        words = words or [(note.body_start, end)]
        ruler = Marks(text, [start for start, _ in words])
        spans = list(tile(words, note.body_start, end))
        found = slide(text, spans, ruler, self._options.chunk_size, self._options.chunk_overlap)
        return assemble(note, STRATEGY, windows(text, found), Outline(note))
