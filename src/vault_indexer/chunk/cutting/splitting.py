"""Splitting one section that is too long into pieces that know they are siblings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.chunk.cutting.assemble import Draft
from vault_indexer.chunk.cutting.blocks import BlockSplitter, within
from vault_indexer.chunk.cutting.outline import Outline
from vault_indexer.chunk.cutting.packing import pack
from vault_indexer.chunk.cutting.sections import Unit
from vault_indexer.chunk.cutting.spans import Span, trim
from vault_indexer.model import Element


@dataclass(frozen=True, slots=True)
class Splitter:
    """Splits units at blocks into pieces of nearly equal size, with overlap on top of the limit.

    Overlap is the end of the piece before, but never reaches back over a heading.
    """

    outline: Outline
    blocks: Sequence[Element]
    block_splitter: BlockSplitter
    overlap: int

    def drafts(self, unit: Unit, family: int) -> list[Draft]:
        """The unit as drafts: one if it fits, else pieces of the given family."""
        block_splitter = self.block_splitter
        if block_splitter.ruler.size(unit.start, unit.end) <= block_splitter.limit:
            return [Draft(unit.start, unit.end)]
        atoms = block_splitter.atoms(within(self.blocks, unit.start, unit.end), unit.end)
        drafts: list[Draft] = []
        previous: Span | None = None
        for start, end in self._pieces(pack(atoms, block_splitter.ruler, block_splitter.limit)):
            drafts.append(Draft(start, end, family=family, overlap=self._tail(previous, start)))
            previous = (start, end)
        return drafts

    def _pieces(self, spans: Sequence[Span]) -> list[Span]:
        """The pieces as they are kept: in touch, so that joined they are the section.

        White space between two pieces stays at the end of the first, where it fits the limit; that
        way a piece's overlap runs into its body as it does in the note.
        """
        text, ruler = self.block_splitter.text, self.block_splitter.ruler
        kept: list[Span] = []
        for start, end in spans:
            bare_start, bare_end = trim(text, start, end)
            if bare_end > bare_start:
                roomy = ruler.at(end) - ruler.at(bare_start) <= self.block_splitter.limit
                kept.append((bare_start, end if roomy else bare_end))
        kept[-1:] = [trim(text, *kept[-1])] if kept else []
        return kept

    def _tail(self, previous: Span | None, start: int) -> str:
        """The end of the previous piece, as far as it lies in the section that holds `start`."""
        if previous is None or not self.overlap:
            return ""
        earliest = self.block_splitter.ruler.back(previous[1], self.overlap)
        begin = max(earliest, previous[0], self.outline.section_start(start))
        return self.block_splitter.text[begin : previous[1]]
