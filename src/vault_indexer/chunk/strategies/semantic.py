"""`semantic`: chunks end where the subject changes, according to the embeddings of sentences.

`breakpoint` compares each group of sentences with the next and splits where they differ most. `cluster`
divides the whole note in one step (see `best_division`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Outline,
    Ruler,
    Span,
    best_division,
    blocks_of,
    fit,
    pack,
    paragraphs_of_blocks,
    ruler_for,
    trim_drafts,
)
from vault_indexer.config.tables.chunking_options import SemanticOptions
from vault_indexer.model import ElementKind, Note
from vault_indexer.ports import Embedder, Tokenizer

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats32

_LOOSE = frozenset(ElementKind) - {ElementKind.HEADING, ElementKind.ITEM}


class SemanticChunker(DraftChunker[SemanticOptions]):
    """Embeds sentences once and splits the note where their meaning changes."""

    strategy = "semantic"

    def __init__(
        self, options: SemanticOptions, embedder: Embedder, tokenizer: Tokenizer | None = None
    ) -> None:
        super().__init__(options, tokenizer)
        self._embedder = embedder

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        """All chunks of the note. Raises ProviderError if it cannot be embedded."""
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        sentences = self._sentences(note, ruler)
        if not sentences:
            return []
        spans = (
            self._clusters(note, ruler, sentences)
            if self._options.mode == "cluster"
            else self._turns(note, ruler, sentences)
        )
        drafts = trim_drafts(note.text, [Draft(start, end) for start, end in spans])
        return fit(note.text, drafts, ruler, self._options.max_chunk_size)

    def _sentences(self, note: Note, ruler: Ruler) -> list[Span]:
        """Touching spans of sentences, lines of code and list items, each with the heading above."""
        block_splitter = BlockSplitter(note.text, ruler, ruler.room(self._options.max_chunk_size), _LOOSE)
        return block_splitter.atoms(blocks_of(note), len(note.text))

    def _embed(self, note: Note, spans: Sequence[Span]) -> Floats32:
        return self._embedder.embed([note.text[start:end].strip() for start, end in spans])

    def _turns(self, note: Note, ruler: Ruler, sentences: list[Span]) -> list[Span]:
        """Spans between the changes of meaning, small ones joined, long ones split evenly."""
        if len(sentences) < 2:
            return sentences
        reach = self._options.buffer_sentences
        last = len(sentences) - 1
        groups = [
            (sentences[max(i - reach, 0)][0], sentences[min(i + reach, last)][1]) for i in range(last + 1)
        ]
        vectors = self._embed(note, groups)
        distances = 1.0 - np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
        threshold = float(np.percentile(distances, self._options.threshold))
        borders = [0, *(int(i) + 1 for i in np.flatnonzero(distances > threshold)), last + 1]
        spans: list[Span] = []
        for first, stop in pairwise(self._long_enough(ruler, sentences, borders)):
            spans.extend(pack(sentences[first:stop], ruler, ruler.room(self._options.max_chunk_size)))
        return spans

    def _long_enough(self, ruler: Ruler, sentences: list[Span], borders: list[int]) -> list[int]:
        """The borders without those that would leave a chunk below the minimum; the last one is always
        kept."""
        least = self._options.min_chunk_size
        kept = [borders[0]]
        for border in borders[1:-1]:
            if ruler.at(sentences[border][0]) - ruler.at(sentences[kept[-1]][0]) >= least:
                kept.append(border)
        if len(kept) > 1 and ruler.at(sentences[-1][1]) - ruler.at(sentences[kept[-1]][0]) < least:
            kept.pop()
        return [*kept, borders[-1]]

    def _clusters(self, note: Note, ruler: Ruler, sentences: list[Span]) -> list[Span]:
        borders = {paragraph.start for paragraph in paragraphs_of_blocks(blocks_of(note), len(note.text))}
        segments = self._segments(ruler, sentences, borders)
        vectors = self._embed(note, segments)
        lengths = [ruler.at(end) - ruler.at(start) for start, end in segments]
        opens = [start in borders for start, _ in segments]
        begins = best_division(vectors, lengths, opens, ruler.room(self._options.max_chunk_size))
        return [(segments[first][0], segments[stop - 1][1]) for first, stop in pairwise(begins)]

    def _segments(self, ruler: Ruler, sentences: list[Span], borders: Set[int]) -> list[Span]:
        """Sentences gathered up to `segment_chars`; across the end of a paragraph only while very short.

        Any two neighbours together exceed a quarter of that, so a chunk has a bounded number of them.
        """
        size = min(self._options.segment_chars, self._options.max_chunk_size // 3)
        segments: list[Span] = []
        for start, end in sentences:
            held = ruler.at(start) - ruler.at(segments[-1][0]) if segments else 0
            room = size // 4 if start in borders else size
            if segments and held < room and ruler.at(end) - ruler.at(segments[-1][0]) <= size:
                segments[-1] = (segments[-1][0], end)
            else:
                segments.append((start, end))
        return segments
