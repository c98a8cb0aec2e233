"""Sections as units of chunking: small ones joined to a neighbour, the same way wherever it is done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vault_indexer.chunk.cutting.sizes import Ruler
from vault_indexer.chunk.cutting.spans import trim
from vault_indexer.model import Note

ALL_LEVELS = frozenset(range(7))


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of neighbouring sections; `level` is that of the first one (0: before any heading)."""

    start: int
    end: int
    level: int


def units_of(note: Note, levels: Collection[int] = ALL_LEVELS) -> list[Unit]:
    """The note's sections that are not blank; one whose level is not in `levels` belongs to the last."""
    units: list[Unit] = []
    for section in note.sections:
        start, end = trim(note.text, section.start, section.end)
        if end <= start:
            continue
        if units and section.level not in levels:
            units[-1] = Unit(units[-1].start, end, units[-1].level)
        else:
            units.append(Unit(start, end, section.level))
    return units


@dataclass(frozen=True, slots=True)
class Joiner:
    """Joins units below `minimum` to a neighbour, from the top of the note down.

    First choice is the next unit, unless that one stands higher in the outline and so begins another
    subject; then the one before; then the next all the same. A small unit is left alone only where no
    neighbour can take it within `maximum`, but a title above a chapter that has to be split anyway
    opens the first piece of that chapter.
    """

    ruler: Ruler
    minimum: int
    maximum: int

    def join(self, units: Sequence[Unit]) -> list[Unit]:
        """The units, joined; each has the level of its first section."""
        done: list[Unit] = []
        small: Unit | None = None
        for unit in units:
            current = unit if small is None else self._place(done, small, unit)
            small = current if self._size(current) < self.minimum else None
            if small is None:
                done.append(current)
        if small is not None and not self._join_last(done, small):
            done.append(small)
        return done

    def fits(self, unit: Unit) -> bool:
        """Whether the unit needs no splitting."""
        return self._size(unit) <= self.maximum

    def _place(self, done: list[Unit], small: Unit, following: Unit) -> Unit:
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

    def _join_last(self, done: list[Unit], small: Unit) -> bool:
        """Joins the small unit to the last one done, where that fits."""
        joined = _join(done[-1], small) if done else None
        if joined is None or not self.fits(joined):
            return False
        done[-1] = joined
        return True

    def _forward(self, small: Unit, following: Unit) -> Unit | None:
        """Both as one, if that fits or if the next one has to be split in any case."""
        joined = _join(small, following)
        must_split = not self.fits(following) and following.level >= small.level
        return joined if must_split or self.fits(joined) else None

    def _size(self, unit: Unit) -> int:
        return self.ruler.at(unit.end) - self.ruler.at(unit.start)


def _join(first: Unit, second: Unit) -> Unit:
    return Unit(first.start, second.end, first.level)
