"""`discourse`: paragraphs stay with the text that they continue, and a conclusion closes a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Markers,
    Outline,
    Paragraph,
    Ruler,
    blocks_of,
    detect,
    fit,
    load_markers,
    paragraph_numbers,
    paragraphs_of,
    ruler_for,
    sentence_pieces,
    trim_drafts,
)
from vault_indexer.chunk.strategies.paragraph import ParagraphChunker
from vault_indexer.config.tables.chunking_options import DiscourseOptions, ParagraphOptions
from vault_indexer.model import JsonValue, Note
from vault_indexer.ports import Tokenizer

_CONTINUATION = "continuation_marker"
_SHORT = "short_paragraph"
_LEAST_WORDS = 12
"""The minimum number of words of a paragraph whose language is detected separately."""


@dataclass(slots=True)
class _Open:
    """The chunk under construction: its span, its paragraphs by number, and the number of consecutive
    continuations."""

    start: int
    end: int
    first: int
    last: int
    merges: int = 0
    merge_reason: str | None = None
    closure_marker: str | None = None

    def take(self, paragraph: Paragraph, number: int, reason: str) -> None:
        """Adds a paragraph. A single continuation determines the reason of the whole chunk."""
        self.end, self.last = paragraph.end, number
        self.merge_reason = _CONTINUATION if _CONTINUATION in {self.merge_reason, reason} else reason


@dataclass(frozen=True, slots=True)
class _Text:
    """The paragraphs of a note, and their ruler."""

    text: str
    ruler: Ruler
    markers: Markers
    paragraphs: Sequence[Paragraph]

    def size(self, current: _Open) -> int:
        return self.ruler.size(current.start, current.end)


class DiscourseChunker(DraftChunker[DiscourseOptions]):
    """Gathers paragraphs up to `max_chars`, depending on their opening words.

    `extra`: `merge_reason` ("continuation_marker", "short_paragraph", or None for a single paragraph),
    `closure_marker` (the words that closed the chunk, or None), `para_ids`, `language_detected`,
    `mixed_language`. A note in a language without markers is split as by `paragraph`, which its chunks report
    in `fallback` and `reason`.
    """

    strategy = "discourse"

    def __init__(self, options: DiscourseOptions, tokenizer: Tokenizer | None = None) -> None:
        """Raises ProviderError for a `markers_dir` that cannot be read."""
        super().__init__(options, tokenizer)
        self._markers = load_markers(options.markers_dir)

    @property
    def longest(self) -> int:
        """The maximum size of a chunk with continuations."""
        return int(self._options.max_chars * (1 + self._options.continuation_overflow))

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:
        language = self.language(note)
        markers = self._markers.get(language)
        drafts = self._fallback(note, outline, language) if markers is None else self._drafts(note, markers)
        return self._described(note, drafts, language)

    def language(self, note: Note) -> str:
        """The language to use: the option's, the note's own, or the one detected."""
        if self._options.language != "auto":
            return self._options.language
        declared = note.language.lower().replace("_", "-").partition("-")[0]
        return declared or detect(note.text[note.body_start :], self._markers)

    def _fallback(self, note: Note, outline: Outline, language: str) -> list[Draft]:
        sizes = self._options.model_dump(include={"max_chars", "min_chars", "size_unit"})
        reason = f"no discourse markers for language {language}" if language else "language not recognized"
        paragraph = ParagraphChunker(ParagraphOptions.model_validate(sizes), self._tokenizer)
        why: dict[str, JsonValue] = {"fallback": "paragraph", "reason": reason}
        return [draft.with_extra(why) for draft in paragraph.drafts(note, outline)]

    def _drafts(self, note: Note, markers: Markers) -> list[Draft]:
        blocks = blocks_of(note)
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        block_splitter = BlockSplitter(note.text, ruler, ruler.room(self._options.max_chars))
        longest = ruler.room(self.longest)
        paragraphs = paragraphs_of(note)
        drafts: list[Draft] = []
        for found in self._gather(_Text(note.text, ruler, markers, paragraphs)):
            pieces = sentence_pieces(block_splitter, blocks, (found.start, found.end), longest)
            why: dict[str, JsonValue] = {
                "merge_reason": found.merge_reason,
                "closure_marker": found.closure_marker,
            }
            drafts.extend(Draft(start, end, extra=why) for start, end in pieces)
        return fit(note.text, trim_drafts(note.text, drafts), ruler, self.longest)

    def _gather(self, given: _Text) -> Iterator[_Open]:
        current: _Open | None = None
        for number, paragraph in enumerate(given.paragraphs):
            words = given.text[paragraph.text_start : paragraph.text_start + 200]
            reason = self._reason(given, current, paragraph, given.markers.continues(words))
            if current is not None and reason:
                current.take(paragraph, number, reason)
            else:
                if current is not None:
                    yield current
                current = _Open(paragraph.start, paragraph.end, number, number)
            concludes = given.markers.conclusion_of(words)
            if concludes and given.size(current) >= self._options.min_chars:
                current.closure_marker = concludes
                yield current
                current = None
        if current is not None:
            yield current

    def _reason(self, given: _Text, current: _Open | None, paragraph: Paragraph, continues: bool) -> str:
        """The reason for adding the paragraph to the open chunk, or "" if it begins another. After
        `max_continuation_merges` in a row, a continuation begins another chunk regardless of the sizes."""
        if current is None:
            return ""
        size = given.ruler.size(current.start, paragraph.end)
        if continues and not paragraph.has_heading:
            current.merges += 1
            within_merges = current.merges <= self._options.max_continuation_merges
            return _CONTINUATION if within_merges and size <= self.longest else ""
        current.merges = 0
        new_subject = paragraph.has_heading and given.size(current) >= self._options.min_chars
        return _SHORT if size <= self._options.max_chars and not new_subject else ""

    def _described(self, note: Note, drafts: Sequence[Draft], language: str) -> list[Draft]:
        """The drafts with the ids of their paragraphs and information about their languages."""
        paragraphs = paragraphs_of(note)
        languages = [
            detect(text, self._markers) if text.count(" ") >= _LEAST_WORDS else ""
            for paragraph in paragraphs
            for text in [note.text[paragraph.text_start : paragraph.end]]
        ]
        described: list[Draft] = []
        for draft in drafts:
            held = paragraph_numbers(paragraphs, draft.start, draft.end)
            ids: list[JsonValue] = [f"{note.doc_id}_paragraph_{number}" for number in held]
            spoken = {languages[number] for number in held} - {""}
            known: dict[str, JsonValue] = {
                "para_ids": ids,
                "language_detected": language,
                "mixed_language": len(spoken) > 1,
            }
            described.append(draft.with_extra(known))
        return described
