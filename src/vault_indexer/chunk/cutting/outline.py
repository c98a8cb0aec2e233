"""Where a position of the note stands: its section, its headings, its line."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right

from vault_indexer.model import HEADER_SEPARATOR, Heading, Note, Section


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
        """The section that holds `pos`; None before the first one."""
        index = bisect_right(self._starts, pos) - 1
        return self._sections[index] if index >= 0 else None

    def header_path(self, pos: int) -> str:
        """The headings that hold at `pos`, joined; "" before the first heading."""
        section = self.section(pos)
        return HEADER_SEPARATOR.join(section.header_path) if section else ""

    def context(self, pos: int) -> str:
        """The headings above a text that begins at `pos` and that the text does not show itself."""
        section = self.section(pos)
        if section is None:
            return ""
        titles = section.header_path
        return HEADER_SEPARATOR.join(titles[:-1] if pos <= section.start else titles)

    def headings(self, pos: int) -> str:
        """What `context` names, as the heading lines of a note: "# A", "## B"."""
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
        """Where the section at `pos` begins, its heading included; 0 before the first one."""
        section = self.section(pos)
        return section.start if section else 0

    def line(self, pos: int) -> int:
        """The 1-based line of a position."""
        return bisect_right(self._line_starts, pos) + 1
