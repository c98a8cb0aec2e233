"""The strategies that follow the outline of a note, and `none`, which splits nothing.

`header_based`, the default:

1. Every section (a heading and the text up to the next heading, of any level) is a unit.
2. A unit below `min_chunk_chars` is joined to a neighbour within `max_chunk_chars`: to the next one,
   unless that begins another subject higher in the outline; then to the previous one (`Joiner`).
3. A unit above `max_chunk_chars` is split at blocks into pieces of nearly equal size; a block is split
   only if it alone is too long: at list items or lines, then sentences, then words (`Splitter`).

A joined chunk has the header path of its first section. Overlap is added to the maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from vault_indexer.chunk.cutting.assemble import (
    Draft,
    DraftChunker,
    NoteLayout,
    Splitter,
    fit,
    trim_drafts,
    windows,
)
from vault_indexer.chunk.cutting.blocks import BlockSplitter, Paragraph, sentence_pieces, within
from vault_indexer.chunk.cutting.sections import Joiner, Outline, headings_within, units_of
from vault_indexer.chunk.cutting.spans import NoteSentences, Span, slide
from vault_indexer.config.tables.chunking_options import (
    HeaderBasedOptions,
    HierarchicalOptions,
    MarkdownOptions,
    ParentChildOptions,
)
from vault_indexer.model import ElementKind, JsonValue


class WholeNoteChunker(DraftChunker[None]):
    """One chunk per note, without its frontmatter: for short notes, and for searches that should rank notes
    instead of passages."""

    strategy = "none"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        return trim_drafts(layout.text, [Draft(*layout.body)])


class HeaderBasedChunker(DraftChunker[HeaderBasedOptions]):
    """Chunks begin at headings; small ones are joined, large ones split."""

    strategy = "header_based"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        options, outline = self._options, layout.outline
        context = outline.context if options.include_parent_headers else lambda _: ""
        blocks = layout.splitter(options.max_chunk_chars)
        splitter = Splitter(outline, layout.blocks, blocks, options.overlap_chars, context)
        units = Joiner(layout.ruler, options.min_chunk_chars, options.max_chunk_chars).join(
            units_of(layout.note)
        )
        return splitter.split(units, options.min_chunk_chars)


class MarkdownChunker(DraftChunker[MarkdownOptions]):
    """Like `header_based`, with sizes in any unit, headings of chosen levels and blocks that may be split."""

    strategy = "markdown"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        options, ruler = self._options, layout.ruler
        # `Splitter` subtracts the headings and what the tokenizer adds: the limit here is the whole one.
        blocks = BlockSplitter(layout.text, ruler, options.max_chunk_size, self._loose_kinds())
        splitter = Splitter(
            layout.outline, layout.blocks, blocks, options.overlap, self._context(layout.outline)
        )
        units = units_of(layout.note, {0, *(options.header_levels or range(1, 7))})
        units = Joiner(ruler, options.min_chunk_size, options.max_chunk_size).join(units)
        drafts = splitter.split(units, options.min_chunk_size)
        drafts = fit(layout.text, drafts, ruler, options.max_chunk_size)
        return [self._with_extra(layout, draft) for draft in drafts]

    def _loose_kinds(self) -> frozenset[ElementKind]:
        options = self._options
        respected = {
            ElementKind.CODE: options.respect_code_blocks,
            ElementKind.LIST: options.respect_lists,
            ElementKind.TABLE: options.respect_tables,
            ElementKind.QUOTE: options.respect_blockquotes,
        }
        return frozenset(kind for kind, respect in respected.items() if not respect)

    def _context(self, outline: Outline) -> Callable[[int], str]:
        """A function that returns the context of a chunk by its start."""
        shown = self._options.header_context_format if self._options.include_header_context else "prefix"
        contexts = {"breadcrumb": outline.context, "full": outline.headings}
        return contexts.get(shown, lambda _: "")

    def _with_extra(self, layout: NoteLayout, draft: Draft) -> Draft:
        kinds = {block.kind for block in within(layout.blocks, draft.start, draft.end)}
        headers: list[JsonValue] = [
            {"level": heading.level, "text": heading.text, "line": heading.line}
            for heading in headings_within(layout.note, draft.start, draft.end)
        ]
        extra: dict[str, JsonValue] = {
            "has_code_block": ElementKind.CODE in kinds,
            "has_table": ElementKind.TABLE in kinds,
            "headers": headers,
        }
        above = layout.outline.context(draft.start)
        if above and self._options.include_header_context and self._options.header_context_format == "prefix":
            extra["header_context"] = above
        return draft.with_extra(extra)


class HierarchicalChunker(DraftChunker[HierarchicalOptions]):
    """Each parent is followed by its children, which together cover it.

    `extra` of a parent: `level` 0, `child_count`. Of a child: `level` 1, `parent_id`, `child_index`,
    `child_count`. Parents are embedded with `embed_both` only.
    """

    strategy = "hierarchical"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        options = self._options
        drafts: list[Draft] = []
        for parent in self._parents(layout):
            parent_id = f"{layout.note.doc_id}_chunk_{len(drafts)}"
            span = (parent.start, parent.end)
            children = _windows(layout, span, options.child_size, options.child_overlap)
            count: dict[str, JsonValue] = {"child_count": len(children)}
            drafts.append(replace(parent, embed=options.embed_both).with_extra({"level": 0, **count}))
            for index, child in enumerate(children):
                place: dict[str, JsonValue] = {"level": 1, "parent_id": parent_id, "child_index": index}
                drafts.append(child.with_extra({**place, **count}))
        return drafts

    def _parents(self, layout: NoteLayout) -> Iterator[Draft]:
        """Neighbouring sections up to the parent's size; longer ones become windows over their blocks."""
        size = self._options.parent_size
        for unit in Joiner(layout.ruler, size // 2, size).join(units_of(layout.note)):
            yield from _windows(layout, (unit.start, unit.end), size, self._options.parent_overlap)


def _windows(layout: NoteLayout, span: Span, size: int, overlap: int) -> list[Draft]:
    splitter = layout.splitter(size)
    atoms = splitter.atoms(within(layout.blocks, *span), span[1])
    drafts = windows(layout.text, slide(layout.text, atoms, layout.ruler, splitter.limit, overlap))
    return fit(layout.text, drafts, layout.ruler, size)


class ParentChildChunker(DraftChunker[ParentChildOptions]):
    """Paragraphs under their section, with the ids of their sentences: the children are the chunks.

    Retrieval (a paragraph), reading (its section) and citation (a sentence) use three different sizes: every
    chunk names its section, its paragraphs and, in order, the sentences that it contains. Ids are numbered
    through the note: `{doc_id}_section_3`, `{doc_id}_paragraph_7`, `{doc_id}_sentence_21`.
    """

    strategy = "parent_child"

    def drafts(self, layout: NoteLayout) -> list[Draft]:
        note, paragraphs = layout.note, layout.paragraphs
        sentences = NoteSentences(note.doc_id, note.text, note.block_spans)
        limit = self._options.max_child_tokens
        splitter = layout.splitter(limit)
        drafts: list[Draft] = []
        for first, last in self._join(layout):
            span = (paragraphs[first].start, paragraphs[last].end)
            parts = layout.fit(sentence_pieces(splitter, layout.blocks, span), limit)
            for number, part in enumerate(parts):
                extra: dict[str, JsonValue] = {
                    "level": 1,
                    **_section_ids(layout, paragraphs[first], part.start),
                    "paragraph_id": f"{note.doc_id}_paragraph_{first}",
                    "paragraph_ids": [f"{note.doc_id}_paragraph_{n}" for n in range(first, last + 1)],
                    "paragraph_part": number,
                    "paragraph_part_count": len(parts),
                    "sentence_ids": list[JsonValue](sentences.ids(part.start, part.end)),
                }
                drafts.append(replace(part, extra={**extra, **part.extra}))
        return drafts

    def _join(self, layout: NoteLayout) -> Iterator[Span]:
        """Ranges of paragraphs: a small one is joined to the next of its section, if both fit."""
        paragraphs, size = layout.paragraphs, layout.ruler.size
        first = 0
        for index, paragraph in enumerate(paragraphs):
            following = paragraphs[index + 1] if index + 1 < len(paragraphs) else None
            start = paragraphs[first].start
            small = size(start, paragraph.end) < self._options.min_child_tokens
            fits = following and size(start, following.end) <= self._options.max_child_tokens
            if small and fits and following and not following.has_heading:
                continue
            yield first, index
            first = index + 1


def _section_ids(layout: NoteLayout, paragraph: Paragraph, start: int) -> dict[str, JsonValue]:
    """The section of a chunk that begins at `start` in the paragraph."""
    # The headings above a text belong to the innermost section of that text.
    pos = max(start, paragraph.text_start - 1 if paragraph.has_heading else paragraph.text_start)
    if paragraph.kind is ElementKind.HEADING:
        pos = max(start, paragraph.end - 1)
    section = layout.outline.section(pos)
    assert section is not None, "all that is not blank is in a section"
    section_id = f"{layout.note.doc_id}_section_{section.index}"
    return {"parent_id": section_id, "section_id": section_id, "section_title": section.title}
