"""`parent_child`: paragraphs under their section, with the ids of their sentences.

Retrieval (a paragraph), reading (its section) and citation (a sentence) use three different sizes: every
chunk names its section, its paragraphs and, in order, the sentences that it contains. Ids are numbered
through the note: `{doc_id}_section_3`, `{doc_id}_paragraph_7`, `{doc_id}_sentence_21`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    NoteSentences,
    Outline,
    Paragraph,
    Ruler,
    Span,
    blocks_of,
    fit,
    paragraphs_of_blocks,
    ruler_for,
    sentence_pieces,
    trim_drafts,
)
from vault_indexer.config.tables.chunking_options import ParentChildOptions
from vault_indexer.model import Element, ElementKind, JsonValue, Note


@dataclass(frozen=True, slots=True)
class _Child:
    """Paragraphs `first` to `last` of the note, or a part of one paragraph."""

    start: int
    end: int
    first: int
    last: int
    part: int = 0
    parts: int = 1
    size: Mapping[str, JsonValue] = field(default_factory=dict)


class ParentChildChunker(DraftChunker[ParentChildOptions]):
    """The children are the chunks; their parents are the note's sections."""

    strategy = "parent_child"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:
        """All children, in order."""
        blocks = blocks_of(note)
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        paragraphs = paragraphs_of_blocks(blocks, len(note.text))
        sentences = NoteSentences(note.doc_id, note.text, note.block_spans)
        return [
            Draft(child.start, child.end, extra=_extra(note, outline, paragraphs, child, sentences))
            for child in self._children(note, blocks, ruler, paragraphs)
        ]

    def _children(
        self, note: Note, blocks: list[Element], ruler: Ruler, paragraphs: list[Paragraph]
    ) -> Iterator[_Child]:
        limit = self._options.max_child_tokens
        block_splitter = BlockSplitter(note.text, ruler, ruler.room(limit))
        for first, last in self._join(ruler, paragraphs):
            start, end = paragraphs[first].start, paragraphs[last].end
            pieces = sentence_pieces(block_splitter, blocks, (start, end))
            drafts = trim_drafts(note.text, [Draft(*piece) for piece in pieces])
            drafts = fit(note.text, drafts, ruler, limit)
            for part, draft in enumerate(drafts):
                yield _Child(draft.start, draft.end, first, last, part, len(drafts), draft.extra)

    def _join(self, ruler: Ruler, paragraphs: list[Paragraph]) -> Iterator[Span]:
        """Ranges of paragraphs: a small one is joined to the next of its section, if both fit."""
        first = 0
        for index, paragraph in enumerate(paragraphs):
            following = paragraphs[index + 1] if index + 1 < len(paragraphs) else None
            small = ruler.size(paragraphs[first].start, paragraph.end) < self._options.min_child_tokens
            fits = following and (
                ruler.size(paragraphs[first].start, following.end) <= self._options.max_child_tokens
            )
            if small and fits and following and not following.has_heading:
                continue
            yield first, index
            first = index + 1


def _extra(
    note: Note, outline: Outline, paragraphs: list[Paragraph], child: _Child, sentences: NoteSentences
) -> dict[str, JsonValue]:
    inner = paragraphs[child.first]
    # The headings above a text belong to the innermost section of that text.
    pos = max(child.start, inner.text_start - 1 if inner.has_heading else inner.text_start)
    if inner.kind is ElementKind.HEADING:
        pos = max(child.start, inner.end - 1)
    section = outline.section(pos)
    assert section is not None, "all that is not blank is in a section"
    section_id = f"{note.doc_id}_section_{section.index}"
    return {
        "level": 1,
        "parent_id": section_id,
        "section_id": section_id,
        "section_title": section.title,
        "paragraph_id": f"{note.doc_id}_paragraph_{child.first}",
        "paragraph_ids": [f"{note.doc_id}_paragraph_{n}" for n in range(child.first, child.last + 1)],
        "paragraph_part": child.part,
        "paragraph_part_count": child.parts,
        "sentence_ids": list[JsonValue](sentences.ids(child.start, child.end)),
        **child.size,
    }
