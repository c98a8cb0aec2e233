"""Splitting one section that is too long into pieces that know they are siblings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vault_indexer.chunk.cutting.assemble import Draft
from vault_indexer.chunk.cutting.blocks import BlockSplitter, within
from vault_indexer.chunk.cutting.outline import Outline
from vault_indexer.chunk.cutting.packing import pack
from vault_indexer.chunk.cutting.sections import Unit
from vault_indexer.chunk.cutting.sizes import Characters, Tokens
from vault_indexer.chunk.cutting.spans import Span, trim, word_start
from vault_indexer.model import Element


@dataclass(frozen=True, slots=True)
class Splitter:
    """Splits units at blocks into pieces of nearly equal size, with overlap on top of the limit.

    Overlap is the end of the piece before, but never reaches back over a heading. A limit in tokens holds all
    that a chunk has: the overlap, and the headings that `context` gives for a position, too.
    """

    outline: Outline
    blocks: Sequence[Element]
    block_splitter: BlockSplitter
    overlap: int
    context: Callable[[int], str] = field(default=lambda _: "")

    def split(self, units: Sequence[Unit], minimum: int) -> list[Draft]:
        """All units as drafts. One below the minimum that stands alone behind a unit that was split joins the
        last piece of that, where both fit."""
        drafts: list[Draft] = []
        for family, unit in enumerate(units):
            if drafts and self._is_remainder(drafts[-1], unit, minimum):
                drafts[-1] = replace(drafts[-1], end=unit.end)
            else:
                drafts.extend(self.drafts(unit, family))
        return drafts

    def _is_remainder(self, last: Draft, unit: Unit, minimum: int) -> bool:
        ruler = self.block_splitter.ruler
        if last.family is None or ruler.size(unit.start, unit.end) >= minimum:
            return False
        return ruler.size(last.start, unit.end) <= self._limit(replace(unit, start=last.start))

    def drafts(self, unit: Unit, family: int) -> list[Draft]:
        """The unit as drafts: one if it fits, else pieces of the given family."""
        block_splitter = replace(self.block_splitter, limit=self._limit(unit))
        if block_splitter.ruler.size(unit.start, unit.end) <= block_splitter.limit:
            return [Draft(unit.start, unit.end, context=self.context(unit.start))]
        block_splitter = replace(block_splitter, limit=self._room_beside_overlap(block_splitter.limit))
        atoms = block_splitter.atoms(within(self.blocks, unit.start, unit.end), unit.end)
        drafts: list[Draft] = []
        previous: Span | None = None
        for start, end in self._pieces(
            pack(atoms, block_splitter.ruler, block_splitter.limit), block_splitter
        ):
            overlap, context = self._tail(previous, start), self.context(start)
            drafts.append(Draft(start, end, family=family, overlap=overlap, context=context))
            previous = (start, end)
        return drafts

    def _limit(self, unit: Unit) -> int:
        """What is left of the limit for the unit's own text next to the longest of its contexts."""
        ruler, limit = self.block_splitter.ruler, self.block_splitter.limit
        if not isinstance(ruler, Tokens):
            return limit
        starts = [unit.start, *(start + 1 for start in self.outline.section_starts(unit.start, unit.end))]
        longest = max(ruler.count(context) for context in {self.context(start) for start in starts})
        return ruler.room(limit - min(longest, limit // 2))

    def _room_beside_overlap(self, limit: int) -> int:
        return max(limit - self.overlap, 1) if isinstance(self.block_splitter.ruler, Tokens) else limit

    def _pieces(self, spans: Sequence[Span], block_splitter: BlockSplitter) -> list[Span]:
        """The pieces as they are kept: in touch, so that joined they are the section.

        White space between two pieces stays at the end of the first, where it fits the limit; that
        way a piece's overlap runs into its body as it does in the note.
        """
        text, ruler = block_splitter.text, block_splitter.ruler
        kept: list[Span] = []
        for start, end in spans:
            bare_start, bare_end = trim(text, start, end)
            if bare_end > bare_start:
                roomy = ruler.at(end) - ruler.at(bare_start) <= block_splitter.limit
                kept.append((bare_start, end if roomy else bare_end))
        kept[-1:] = [trim(text, *kept[-1])] if kept else []
        return kept

    def _tail(self, previous: Span | None, start: int) -> str:
        """The end of the previous piece, as far as it lies in the section that holds `start`."""
        if previous is None or not self.overlap:
            return ""
        earliest = self.block_splitter.ruler.back(previous[1], self.overlap)
        begin = max(earliest, previous[0], self.outline.section_start(start))
        if not isinstance(self.block_splitter.ruler, Characters):
            begin = word_start(self.block_splitter.text, begin, previous[1])
        return self.block_splitter.text[begin : previous[1]]
