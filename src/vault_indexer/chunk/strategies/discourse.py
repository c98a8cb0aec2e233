"""`discourse`: paragraphs stay with what they continue, and a conclusion closes a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Characters,
    Draft,
    Markers,
    Outline,
    Paragraph,
    Span,
    assemble,
    blocks_of,
    detect,
    load_markers,
    paragraphs_of,
    sentence_pieces,
    trim_drafts,
    within,
)
from vault_indexer.chunk.strategies.paragraph import ParagraphChunker
from vault_indexer.config.chunking_options import DiscourseOptions, ParagraphOptions
from vault_indexer.model import Chunk, Note

STRATEGY = "discourse"


@dataclass(slots=True)
class _Open:
    """The chunk being gathered: its span, and how many continuations it took in a row."""

    start: int
    end: int
    merges: int = 0


class DiscourseChunker:
    """Gathers paragraphs up to `max_chars`, as the words they open with say.

    A note in a language without markers is split as by `paragraph`; its chunks say so in `extra`:
    `fallback`, `reason`.
    """

    strategy = STRATEGY

    def __init__(self, options: DiscourseOptions) -> None:
        self._options = options
        self._markers = load_markers()

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note."""
        language = self.language(note)
        markers = self._markers.get(language)
        drafts = self._fallback(note, language) if markers is None else self._drafts(note, markers)
        return assemble(note, STRATEGY, drafts, Outline(note))

    def language(self, note: Note) -> str:
        """The language to use: the option's, the note's own, or the one detected."""
        if self._options.language != "auto":
            return self._options.language
        declared = note.language.lower().replace("_", "-").partition("-")[0]
        return declared or detect(note.text[note.body_start :], self._markers)

    def _fallback(self, note: Note, language: str) -> list[Draft]:
        options = ParagraphOptions(max_chars=self._options.max_chars, min_chars=self._options.min_chars)
        reason = f"no discourse markers for language {language}" if language else "language not recognized"
        drafts = ParagraphChunker(options).drafts(note)
        return [replace(draft, extra={"fallback": "paragraph", "reason": reason}) for draft in drafts]

    def _drafts(self, note: Note, markers: Markers) -> list[Draft]:
        ruler = Characters(note.text)
        blocks = blocks_of(note)
        block_splitter = BlockSplitter(note.text, ruler, self._options.max_chars)
        longest = self._longest()
        spans: list[Span] = []
        for start, end in self._gather(note.text, paragraphs_of(note), markers):
            if ruler.size(start, end) <= longest:
                spans.append((start, end))
            else:
                spans.extend(sentence_pieces(block_splitter, within(blocks, start, end), end))
        return trim_drafts(note.text, [Draft(start, end) for start, end in spans])

    def _gather(self, text: str, paragraphs: Sequence[Paragraph], markers: Markers) -> list[Span]:
        spans: list[Span] = []
        current: _Open | None = None
        for paragraph in paragraphs:
            words = text[paragraph.text_start : paragraph.text_start + 200]
            if current is None:
                current = _Open(paragraph.start, paragraph.end)
            elif self._joins(text, current, paragraph, markers.continues(words)):
                current.end = paragraph.end
            else:
                spans.append((current.start, current.end))
                current = _Open(paragraph.start, paragraph.end)
            if self._size(text, current) >= self._options.min_chars and markers.concludes(words):
                spans.append((current.start, current.end))
                current = None
        return [*spans, (current.start, current.end)] if current else spans

    def _joins(self, text: str, current: _Open, paragraph: Paragraph, continues: bool) -> bool:
        """Whether the paragraph goes into the open chunk; a continuation may where others may not."""
        size = len(text[current.start : paragraph.end].strip())
        continues = continues and not paragraph.has_heading
        within_merges = current.merges < self._options.max_continuation_merges
        current.merges = current.merges + 1 if continues else 0
        if continues and within_merges:
            return size <= self._longest()
        new_subject = paragraph.has_heading and self._size(text, current) >= self._options.min_chars
        return size <= self._options.max_chars and not new_subject

    def _longest(self) -> int:
        return int(self._options.max_chars * (1 + self._options.continuation_overflow))

    def _size(self, text: str, current: _Open) -> int:
        return len(text[current.start : current.end].strip())
