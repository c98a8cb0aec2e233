"""`semantic`: chunks end where the subject changes, according to the embeddings of sentences.

`breakpoint` compares each group of sentences with the next and splits where they differ most. `cluster`
divides the whole note in one step (see `best_division`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.chunk.cutting.assemble import Draft, DraftChunker, NoteLayout
from vault_indexer.chunk.cutting.spans import Ruler, Span, pack
from vault_indexer.config.tables.chunking_options import SemanticOptions
from vault_indexer.model import ElementKind
from vault_indexer.ports import Embedder, Tokenizer

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats, Floats32

_LOOSE = frozenset(ElementKind) - {ElementKind.HEADING, ElementKind.ITEM}


class SemanticChunker(DraftChunker[SemanticOptions]):
    """Embeds sentences once and splits the note where their meaning changes."""

    strategy = "semantic"

    def __init__(
        self, options: SemanticOptions, embedder: Embedder, tokenizer: Tokenizer | None = None
    ) -> None:
        super().__init__(options, tokenizer)
        self._embedder = embedder

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        """All chunks of the note. Raises ProviderError if it cannot be embedded."""
        splitter = layout.splitter(self._options.max_chunk_size, _LOOSE)
        # Touching spans of sentences, lines of code and list items, each with the heading above.
        sentences = splitter.atoms(layout.blocks, len(layout.text))
        if not sentences:
            return []
        divide = self._clusters if self._options.mode == "cluster" else self._turns
        return layout.fit(divide(layout, sentences, splitter.limit), self._options.max_chunk_size)

    def _embed(self, text: str, spans: Sequence[Span]) -> Floats32:
        return self._embedder.embed([text[start:end].strip() for start, end in spans])

    def _turns(self, layout: NoteLayout, sentences: list[Span], limit: int) -> list[Span]:
        """Spans between the changes of meaning, small ones joined, long ones split evenly."""
        if len(sentences) < 2:
            return sentences
        reach = self._options.buffer_sentences
        last = len(sentences) - 1
        groups = [
            (sentences[max(i - reach, 0)][0], sentences[min(i + reach, last)][1]) for i in range(last + 1)
        ]
        vectors = self._embed(layout.text, groups)
        distances = 1.0 - np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
        threshold = float(np.percentile(distances, self._options.threshold))
        borders = [0, *(int(i) + 1 for i in np.flatnonzero(distances > threshold)), last + 1]
        spans: list[Span] = []
        for first, stop in pairwise(self._long_enough(layout.ruler, sentences, borders)):
            spans.extend(pack(sentences[first:stop], layout.ruler, limit))
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

    def _clusters(self, layout: NoteLayout, sentences: list[Span], limit: int) -> list[Span]:
        ruler = layout.ruler
        borders = {paragraph.start for paragraph in layout.paragraphs}
        segments = self._segments(ruler, sentences, borders)
        vectors = self._embed(layout.text, segments)
        lengths = [ruler.at(end) - ruler.at(start) for start, end in segments]
        opens = [start in borders for start, _ in segments]
        begins = best_division(vectors, lengths, opens, limit)
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


# The best division of a sequence of embedded segments into chunks, found by dynamic programming.
#
# The idea is that of the ClusterSemanticChunker in Chroma's report "Evaluating Chunking Strategies for
# Retrieval" (2024): choose the division with the most coherent chunks, instead of splitting wherever two
# neighbours differ. Here the worth of a chunk is the length of the sum of its segments' vectors, each
# weighted by its number of characters:
#
# worth = |Σ lengthᵢ · vectorᵢ| = sqrt(Σᵢⱼ lengthᵢ lengthⱼ cos(i, j))
#
# This is the number of its characters about a common subject. Joining never increases it, so every chunk has
# a price, and a border inside a paragraph costs extra. Similarities are needed only between segments that may
# share a chunk: time and memory are linear in the length of the note, not quadratic.


# Chosen on benchmarks/chunking.py: with these, recall and IoU are ahead of the other libraries' splitters
# from 100 to 400 tokens per chunk. Both are in characters, the price at a limit of 1,000.
_PRICE = 52.0
_PRICE_GROWTH = 1.2
_CUT_PARAGRAPH = 150.0


def best_division(vectors: Floats32, lengths: Sequence[int], opens: Sequence[bool], limit: int) -> list[int]:
    """The index of the first segment of each chunk, and at the end the number of segments.

    `vectors` are unit vectors, shape (segments, dimension); `opens` marks the segments that begin a
    paragraph. No chunk is longer than `limit` characters, unless it is a single segment.
    """
    count = len(lengths)
    ends = np.cumsum(lengths)
    # The earliest segment that may share a chunk with each.
    earliest = np.minimum(np.searchsorted(ends - lengths, ends - limit, side="left"), np.arange(count))
    worth = _worths(vectors, lengths, int((np.arange(count) - earliest).max()) + 1)
    cost = _PRICE * (limit / 1000) ** _PRICE_GROWTH + np.where(opens, 0.0, _CUT_PARAGRAPH)
    best = np.zeros(count + 1)
    begins = np.zeros(count, dtype=np.int64)
    for last in range(count):
        first = int(earliest[last])
        # The worth of a chunk of d segments that ends with `last` is worth[last, d - 1].
        values = best[first : last + 1] - cost[first : last + 1] + worth[last, : last - first + 1][::-1]
        choice = int(values.argmax())
        begins[last] = first + choice
        best[last + 1] = values[choice]
    found = [count]
    while found[-1] > 0:
        found.append(int(begins[found[-1] - 1]))
    return found[::-1]


def _worths(vectors: Floats32, lengths: Sequence[int], widest: int) -> Floats:
    """For each segment and each d below `widest`: the worth of the d + 1 segments that end with it."""
    count = len(lengths)
    weighted = vectors * np.asarray(lengths, dtype=np.float32)[:, None]
    squares = np.einsum("ij,ij->i", weighted, weighted).astype(np.float64)
    worths = np.zeros((count, widest))
    worths[:, 0] = np.sqrt(squares)
    # For the chunk of d + 1 segments from i on: its squared worth, and the contribution of its last segment
    # in pairs.
    squared, pairs = squares, np.zeros(count)
    for d in range(1, widest):
        pairs = np.einsum("ij,ij->i", weighted[:-d], weighted[d:]) + pairs[1 : count - d + 1]
        squared = squared[: count - d] + squares[d:] + 2 * pairs
        worths[d:, d] = np.sqrt(np.maximum(squared, 0.0))
    return worths
