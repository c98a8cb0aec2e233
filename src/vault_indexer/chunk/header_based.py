"""`header_based`, the default: chunks begin at headings.

1. Every section (a heading and the text up to the next heading, of any level) is a unit.
2. From the top of the note down, a unit below `min_chunk_chars` is joined to a neighbour. First choice
   is the next unit, unless that one stands higher in the outline and so begins another subject; then
   the chunk before; then the next unit all the same, so that a small chunk is left only where no
   neighbour can take it within `max_chunk_chars`. A small unit in front of a section that has to be
   split anyway (a title above a long chapter) opens the first piece of it, if it is not deeper.
3. What is above `max_chunk_chars` is split at blocks into pieces of nearly equal size; a block is cut
   only if it alone is too long: at list items or lines, then sentences, then words.

A joined chunk has the header path of its first section. Overlap comes on top of the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_indexer.chunk.assemble import Draft, assemble, pieces, tail
from vault_indexer.chunk.blocks import atoms, blocks_of, pack, within
from vault_indexer.chunk.outline import Outline
from vault_indexer.chunk.spans import Span, trim
from vault_indexer.config.chunking import HeaderBasedOptions
from vault_indexer.model import Chunk, Element, Note

STRATEGY = "header_based"


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of neighbouring sections; `level` is that of the first one."""

    start: int
    end: int
    level: int

    @property
    def size(self) -> int:
        return self.end - self.start


class HeaderBasedChunker:
    """Chunks begin at headings; small ones are joined, large ones split."""

    strategy = STRATEGY

    def __init__(self, options: HeaderBasedOptions) -> None:
        self._options = options

    def chunk(self, note: Note) -> list[Chunk]:
        """All chunks of the note."""
        outline = Outline(note)
        blocks = blocks_of(note)
        drafts: list[Draft] = []
        for number, unit in enumerate(self._joined(_units(note))):
            drafts.extend(self._drafts(note, outline, blocks, unit, number))
        return assemble(note, STRATEGY, drafts, outline)

    def _joined(self, units: Sequence[_Unit]) -> list[_Unit]:
        done: list[_Unit] = []
        small: _Unit | None = None
        for unit in units:
            current = unit if small is None else self._place(done, small, unit)
            small = current if current.size < self._options.min_chunk_chars else None
            if small is None:
                done.append(current)
        if small is not None and not self._join_last(done, small):
            done.append(small)
        return done

    def _place(self, done: list[_Unit], small: _Unit, following: _Unit) -> _Unit:
        """Joins the small unit to a neighbour; what is returned is the unit to go on with."""
        forward = self._forward(small, following)
        if forward and following.level >= small.level:
            return forward
        if self._join_last(done, small):
            return following
        if forward:
            return forward
        done.append(small)
        return following

    def _join_last(self, done: list[_Unit], small: _Unit) -> bool:
        """Joins the small unit to the last one done, where that fits."""
        joined = self._fit(done[-1], small) if done else None
        if joined:
            done[-1] = joined
        return joined is not None

    def _forward(self, small: _Unit, unit: _Unit) -> _Unit | None:
        """Both as one, if that fits or if the next has to be split in any case."""
        must_split = unit.size > self._options.max_chunk_chars and unit.level >= small.level
        return _join(small, unit) if must_split else self._fit(small, unit)

    def _fit(self, first: _Unit, second: _Unit) -> _Unit | None:
        joined = _join(first, second)
        return joined if joined.size <= self._options.max_chunk_chars else None

    def _drafts(
        self, note: Note, outline: Outline, blocks: Sequence[Element], unit: _Unit, family: int
    ) -> list[Draft]:
        context = outline.context if self._options.include_parent_headers else _no_context
        limit = self._options.max_chunk_chars
        if unit.size <= limit:
            return [Draft(unit.start, unit.end, context=context(unit.start))]
        cut = pack(atoms(note.text, within(blocks, unit.start, unit.end), unit.end, limit), limit)
        drafts: list[Draft] = []
        previous: Span | None = None
        for span in pieces(note.text, cut, limit):
            floor = outline.section_start(span[0])
            overlap = tail(note.text, previous, self._options.overlap_chars, floor) if previous else ""
            drafts.append(Draft(*span, family=family, overlap=overlap, context=context(span[0])))
            previous = span
        return drafts


def _no_context(_pos: int) -> str:
    return ""


def _units(note: Note) -> list[_Unit]:
    spans = [(s.start, s.end, s.level) for s in note.sections]
    if not spans or spans[0][0] > note.body_start:
        spans.insert(0, (note.body_start, spans[0][0] if spans else len(note.text), 0))
    units: list[_Unit] = []
    for raw_start, raw_end, level in spans:
        start, end = trim(note.text, max(raw_start, note.body_start), raw_end)
        if end > start:
            units.append(_Unit(start, end, level))
    return units


def _join(first: _Unit, second: _Unit) -> _Unit:
    return _Unit(first.start, second.end, first.level)
