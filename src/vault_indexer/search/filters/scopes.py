"""The pieces of a note's text that an operator looks at: sections, lines, blocks, tasks, headings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from vault_indexer.parse import Task, find_tasks, parse_note
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.search.filters.matches import Span
from vault_indexer.search.query import Scope
from vault_indexer.store.catalog import CatalogReader

Spans = Sequence[tuple[int, int]]


class HeadingRow(NamedTuple):
    """A heading of the note's outline."""

    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """What is known of one note when its structure is looked at. `blocks` and `tasks` are None where the
    catalog does not hold them: then the text is parsed."""

    text: str
    headings: Sequence[HeadingRow] = ()
    blocks: Spans | None = None
    tasks: Sequence[Task] | None = None

    @property
    def body_start(self) -> int:
        return body_start(self.text)

    @property
    def text_start(self) -> int:
        """Where the text that is shown begins: with the body, or with the frontmatter where there is no
        body."""
        start = self.body_start
        return start if self.text[start:].strip() else 0


@dataclass(frozen=True, slots=True)
class Pieces:
    """Stretches of text in order, none inside another. Piece i is `text[starts[i]:ends[i]]`, and finding it
    finds the note from `starts[i]` to `place_ends[i]`."""

    starts: Sequence[int]
    ends: Sequence[int]
    place_ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        """How many characters they have."""
        return sum(self.ends) - sum(self.starts)

    def at(self, position: int) -> int | None:
        number = bisect_right(self.starts, position) - 1
        return number if number >= 0 and position < self.ends[number] else None

    def at_or_behind(self, position: int) -> int | None:
        """The number of the piece that holds a position or ends there, or of the next one."""
        number = bisect_right(self.starts, position) - 1
        if number < 0 or position > self.ends[number]:
            number += 1
        return number if number < len(self) else None


def pieces(note: NoteText, scope: Scope) -> Pieces:
    """The note's pieces of a scope; none for scopes of names."""
    match scope:
        case Scope.CONTENT:
            return _pieces([(note.body_start, len(note.text))])
        case Scope.HEADING:
            return _headings(note)
        case Scope.SECTION:
            return _sections(note)
        case Scope.LINE:
            return _lines(note)
        case Scope.BLOCK:
            return _pieces(_blocks(note))
        case Scope.TASK | Scope.TASK_TODO | Scope.TASK_DONE:
            states = task_states(scope)
            return _pieces([(task.start, task.end) for task in _tasks(note) if task.is_done in states])
        case _:
            return _pieces([])


def task_states(scope: Scope) -> tuple[bool, ...]:
    """Which tasks an operator looks at: True stands for those that are done."""
    match scope:
        case Scope.TASK:
            return False, True
        case Scope.TASK_TODO:
            return (False,)
        case Scope.TASK_DONE:
            return (True,)
        case _:
            return ()


def _pieces(spans: Spans) -> Pieces:
    ends = [end for _, end in spans]
    return Pieces([start for start, _ in spans], ends, ends)


def _headings(note: NoteText) -> Pieces:
    """Found by the heading: all that stands under it, deeper headings included."""
    place_ends = [len(note.text)] * len(note.headings)
    open_headings: list[int] = []
    for number, heading in enumerate(note.headings):
        while open_headings and note.headings[open_headings[-1]].level >= heading.level:
            place_ends[open_headings.pop()] = heading.start
        open_headings.append(number)
    return Pieces(
        [heading.start for heading in note.headings], [heading.end for heading in note.headings], place_ends
    )


def _sections(note: NoteText) -> Pieces:
    borders = [note.body_start, *(heading.start for heading in note.headings), len(note.text)]
    return _pieces([(start, end) for start, end in pairwise(borders) if start < end])


def _lines(note: NoteText) -> Pieces:
    lines = note.text[note.body_start :].splitlines(keepends=True)
    borders = list(accumulate(map(len, lines), initial=note.body_start))
    return Pieces(borders[:-1], borders[1:], borders[1:])


def _blocks(note: NoteText) -> Spans:
    """Blocks as the parser sees them; every item of a list is one."""
    if note.blocks is not None:
        return note.blocks
    return parse_note("", note.text.encode("utf-8")).block_spans


def _tasks(note: NoteText) -> Sequence[Task]:
    return note.tasks if note.tasks is not None else list(find_tasks(note.text, note.body_start))


# What the catalog holds of the structure of notes: headings, blocks, tasks.


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of some notes, by note. What was not asked for is None; a note that is not there has no
    headings, and of its blocks and tasks the catalog knows nothing."""

    headings: Mapping[int, list[HeadingRow]] | None = None
    blocks: Mapping[int, list[Span]] | None = None
    tasks: Mapping[int, list[Task]] | None = None

    def note(self, note_id: int, text: str) -> NoteText:
        return NoteText(
            text,
            (self.headings or {}).get(note_id, ()),
            (self.blocks or {}).get(note_id),
            (self.tasks or {}).get(note_id),
        )


def read_structure(catalog: CatalogReader, scope: Scope, notes: Sequence[int]) -> Structure:
    """The structure of the notes, as far as it takes to find the pieces of a scope."""
    if scope in (Scope.HEADING, Scope.SECTION):
        return Structure(headings=_heading_spans(catalog, notes))
    if scope is Scope.BLOCK:
        return Structure(blocks=catalog.block_spans(notes))
    if task_states(scope):
        return Structure(tasks=catalog.tasks(notes))
    return Structure()


def _heading_spans(catalog: CatalogReader, notes: Sequence[int]) -> Mapping[int, list[HeadingRow]]:
    sql = (
        "SELECT note_id, level, start_pos, end_pos FROM headings"
        " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
    )
    found: dict[int, list[HeadingRow]] = {}
    for note_id, level, start, end in catalog.rows_in(sql, notes):
        found.setdefault(note_id, []).append(HeadingRow(level, start, end))
    return found
