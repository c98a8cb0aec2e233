"""`hierarchical`: parents, and children with references to their parent."""

from __future__ import annotations

from dataclasses import replace

from vault_indexer.chunk.cutting import (
    BlockSplitter,
    Draft,
    DraftChunker,
    Joiner,
    Outline,
    Ruler,
    blocks_of,
    fit,
    ruler_for,
    slide,
    units_of,
    windows,
    within,
)
from vault_indexer.config.tables.chunking_options import HierarchicalOptions
from vault_indexer.model import Element, JsonValue, Note


class HierarchicalChunker(DraftChunker[HierarchicalOptions]):
    """Each parent is followed by its children, which together cover it.

    `extra` of a parent: `level` 0, `child_count`. Of a child: `level` 1, `parent_id`, `child_index`,
    `child_count`. Parents are embedded with `embed_both` only.
    """

    strategy = "hierarchical"

    def drafts(self, note: Note, outline: Outline) -> list[Draft]:  # noqa: ARG002 - of the frame
        """All chunks of the note: parent, its children, the next parent, …"""
        ruler = ruler_for(note.text, self._options.size_unit, self._tokenizer)
        blocks = blocks_of(note)
        drafts: list[Draft] = []
        for parent in self._parents(note, ruler, blocks):
            parent_id = f"{note.doc_id}_chunk_{len(drafts)}"
            children = self._children(note, ruler, blocks, parent)
            count: dict[str, JsonValue] = {"child_count": len(children)}
            drafts.append(parent.with_extra({"level": 0, **count}))
            for index, child in enumerate(children):
                place: dict[str, JsonValue] = {"level": 1, "parent_id": parent_id, "child_index": index}
                drafts.append(child.with_extra({**place, **count}))
        return drafts

    def _parents(self, note: Note, ruler: Ruler, blocks: list[Element]) -> list[Draft]:
        """Neighbouring sections up to the parent's size; longer ones become windows over their blocks."""
        size, overlap = self._options.parent_size, self._options.parent_overlap
        block_splitter = BlockSplitter(note.text, ruler, ruler.room(size))
        drafts: list[Draft] = []
        for unit in Joiner(ruler, size // 2, size).join(units_of(note)):
            atoms = block_splitter.atoms(within(blocks, unit.start, unit.end), unit.end)
            drafts.extend(windows(note.text, slide(note.text, atoms, ruler, ruler.room(size), overlap)))
        drafts = fit(note.text, drafts, ruler, size)
        return [replace(draft, embed=self._options.embed_both) for draft in drafts]

    def _children(self, note: Note, ruler: Ruler, blocks: list[Element], parent: Draft) -> list[Draft]:
        size, overlap = self._options.child_size, self._options.child_overlap
        atoms = BlockSplitter(note.text, ruler, ruler.room(size)).atoms(
            within(blocks, parent.start, parent.end), parent.end
        )
        found = windows(note.text, slide(note.text, atoms, ruler, ruler.room(size), overlap))
        return fit(note.text, found, ruler, size)
