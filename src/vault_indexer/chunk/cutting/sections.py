"""Sections as units of chunking: all strategies join small ones to a neighbour in the same way."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence

from vault_indexer.chunk.cutting.spans import Ruler, trim
from vault_indexer.model import HEADER_SEPARATOR, Heading, Note, Section
from vault_indexer.system import record

ALL_LEVELS = frozenset(range(7))


@record
class Unit:
    """A stretch of neighbouring sections; `level` is that of the first one (0: before any heading)."""

    start: int
    end: int
    level: int


def units_of(note: Note, levels: Collection[int] = ALL_LEVELS) -> list[Unit]:
    """The note's non-blank sections; a section whose level is not in `levels` is added to the previous
    unit."""
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


@record
class Joiner:
    """Joins units below `minimum` to a neighbour, from the top of the note down.

    The first choice is the next unit, unless it is higher in the outline and so begins another subject; then
    the previous one; then the next one in any case. A small unit remains separate only if no neighbour can
    take it within `maximum`, but a title above a chapter that has to be split anyway opens the first piece of
    that chapter.
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
        return self._size(unit) <= self.maximum

    def _place(self, done: list[Unit], small: Unit, following: Unit) -> Unit:
        """Joins the small unit to a neighbour. Returns the unit to continue with."""
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
        """Joins the small unit to the last finished one, if that fits."""
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


# Look-ups by position: section, headings and line.


def headings_within(note: Note, start: int, end: int) -> list[Heading]:
    """The headings that begin in a span, in order."""
    first = bisect_left(note.headings, start, key=lambda heading: heading.start)
    last = bisect_left(note.headings, end, lo=first, key=lambda heading: heading.start)
    return list(note.headings[first:last])


class Outline:
    """Look-ups by position in logarithmic time; building it is linear in the note."""

    def __init__(self, note: Note) -> None:
        self._sections = note.sections
        self._starts = [section.start for section in note.sections]
        self._line_starts = array("I", (match.end() for match in re.finditer("\n", note.text)))

    def section(self, pos: int) -> Section | None:
        """The section that contains `pos`; None before the first one."""
        index = bisect_right(self._starts, pos) - 1
        return self._sections[index] if index >= 0 else None

    def header_path(self, pos: int) -> str:
        """The headings that apply at `pos`, joined; "" before the first heading."""
        section = self.section(pos)
        return HEADER_SEPARATOR.join(section.header_path) if section else ""

    def context(self, pos: int) -> str:
        """The headings above a text that begins at `pos`, without those that the text itself contains."""
        section = self.section(pos)
        if section is None:
            return ""
        titles = section.header_path
        return HEADER_SEPARATOR.join(titles[:-1] if pos <= section.start else titles)

    def headings(self, pos: int) -> str:
        """The headings of `context` as heading lines of a note: "# A", "## B"."""
        section = self.section(pos)
        above = self._parent(section) if section and pos <= section.start else section
        found: list[str] = []
        while above is not None:
            if above.level:
                found.append(f"{'#' * above.level} {above.title}")
            above = self._parent(above)
        return "\n".join(reversed(found))

    def _parent(self, section: Section) -> Section | None:
        return None if section.parent is None else self._sections[section.parent]

    def section_starts(self, start: int, end: int) -> list[int]:
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def section_start(self, pos: int) -> int:
        """The start of the section at `pos`, including its heading; 0 before the first one."""
        section = self.section(pos)
        return section.start if section else 0

    def line(self, pos: int) -> int:
        """The 1-based line of a position."""
        return bisect_right(self._line_starts, pos) + 1
