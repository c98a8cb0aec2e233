"""The pieces of a note's text that an operator looks at: sections, lines, blocks, tasks, headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from vault_indexer.parse import parse_any
from vault_indexer.search.query_ast import Scope

_FRONTMATTER = re.compile(r"\A---[ \t]*\r?\n(?:.*\n)*?---[ \t]*(?:\r?\n|\Z)")
_TASK = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<state>[^\]\n])\](?=[ \t]|$)", re.MULTILINE)
_TASK_END = re.compile(r"\n(?=[ \t>]*(?:\n|\Z|(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|```|~~~))")
_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL
)
_OPEN_STATES = " "


class Piece(NamedTuple):
    """Text to look into, and the span of the note that is found by it."""

    start: int
    end: int
    place_end: int


class HeadingRow(NamedTuple):
    """A heading of the note's outline."""

    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """What is known of one note when its structure is looked at."""

    path: str
    text: str
    headings: Sequence[HeadingRow]

    @property
    def body_start(self) -> int:
        """Where the frontmatter ends."""
        found = _FRONTMATTER.match(self.text)
        return found.end() if found else 0


def pieces(note: NoteText, scope: Scope) -> Iterator[Piece]:
    """The note's pieces of a scope, in order; none for scopes of names."""
    match scope:
        case Scope.CONTENT:
            yield _piece(note.body_start, len(note.text))
        case Scope.HEADING:
            yield from _headings(note)
        case Scope.SECTION:
            yield from _sections(note)
        case Scope.LINE:
            yield from _lines(note)
        case Scope.BLOCK:
            yield from _blocks(note)
        case Scope.TASK | Scope.TASK_TODO | Scope.TASK_DONE:
            yield from _tasks(note, scope)
        case _:
            return


def _piece(start: int, end: int) -> Piece:
    return Piece(start, end, end)


def _headings(note: NoteText) -> Iterator[Piece]:
    """Found by the heading: all that stands under it, deeper headings included."""
    for number, heading in enumerate(note.headings):
        later = (other.start for other in note.headings[number + 1 :] if other.level <= heading.level)
        yield Piece(heading.start, heading.end, next(later, len(note.text)))


def _sections(note: NoteText) -> Iterator[Piece]:
    borders = [note.body_start, *(heading.start for heading in note.headings), len(note.text)]
    for start, end in pairwise(borders):
        if start < end:
            yield _piece(start, end)


def _lines(note: NoteText) -> Iterator[Piece]:
    start = note.body_start
    for line in note.text[start:].splitlines(keepends=True):
        yield _piece(start, start + len(line))
        start += len(line)


def _blocks(note: NoteText) -> Iterator[Piece]:
    """Blocks as the parser sees them; every item of a list is one."""
    for element in parse_any(note.path, note.text.encode("utf-8")).elements:
        for part in element.parts or (element,):
            yield _piece(part.start, part.end)


def _tasks(note: NoteText, scope: Scope) -> Iterator[Piece]:
    """Every list item with a box, not those in code. A box with anything but a space in it is done."""
    code: list[tuple[int, int]] | None = None
    for task in _TASK.finditer(note.text, note.body_start):
        is_done = task["state"] not in _OPEN_STATES
        if scope is not Scope.TASK and is_done is not (scope is Scope.TASK_DONE):
            continue
        if code is None:
            code = [match.span() for match in _FENCE.finditer(note.text)]
        if any(first <= task.start() < last for first, last in code):
            continue
        end = _TASK_END.search(note.text, task.end())
        yield _piece(task.start(), end.start() if end else len(note.text))
