"""The pieces of a note's text that an operator searches: sections, lines, blocks, tasks, headings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from vault_indexer.parse import Task, find_tasks, parse_note
from vault_indexer.parse.frontmatter import body_start
from vault_indexer.search.query import Scope
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import record

Spans = Sequence[tuple[int, int]]


class HeadingRow(NamedTuple):
    """A heading of the note's outline."""

    level: int
    start: int
    end: int


@record
class NoteText:
    """A note's text and structure. `blocks` and `tasks` that the catalog lacks (None) are parsed."""

    text: str
    headings: Sequence[HeadingRow] = ()
    blocks: Spans | None = None
    tasks: Sequence[Task] | None = None

    @property
    def body_start(self) -> int:
        return body_start(self.text)


@record
class Pieces:
    """Stretches of text in order, without nesting. Piece i is `text[starts[i]:ends[i]]`, and its match
    extends from `starts[i]` to `place_ends[i]`."""

    starts: Sequence[int]
    ends: Sequence[int]
    place_ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        return sum(self.ends) - sum(self.starts)

    def at(self, position: int) -> int | None:
        number = bisect_right(self.starts, position) - 1
        return number if number >= 0 and position < self.ends[number] else None

    def at_or_behind(self, position: int) -> int | None:
        """Returns the number of the piece that contains a position or ends there, or of the next piece."""
        number = bisect_right(self.starts, position) - 1
        if number < 0 or position > self.ends[number]:
            number += 1
        return number if number < len(self) else None


def pieces(note: NoteText, scope: Scope) -> Pieces:
    """Returns the note's pieces for a scope. There are none for scopes of names."""
    match scope:
        case Scope.CONTENT:
            return _pieces([(note.body_start, len(note.text))])
        case Scope.HEADING:
            return _headings(note)
        case Scope.SECTION:
            borders = [note.body_start, *(heading.start for heading in note.headings), len(note.text)]
            return _pieces([(start, end) for start, end in pairwise(borders) if start < end])
        case Scope.LINE:
            return _lines(note)
        case Scope.BLOCK:
            # As parsed: each list item is a block.
            blocks = note.blocks
            return _pieces(parse_note("", note.text.encode()).block_spans if blocks is None else blocks)
        case Scope.TASK | Scope.TASK_TODO | Scope.TASK_DONE:
            states = task_states(scope)
            tasks = note.tasks if note.tasks is not None else find_tasks(note.text, note.body_start)
            return _pieces([(task.start, task.end) for task in tasks if task.is_done in states])
        case _:
            return _pieces([])


_TASK_STATES = {Scope.TASK: (False, True), Scope.TASK_TODO: (False,), Scope.TASK_DONE: (True,)}


def task_states(scope: Scope) -> tuple[bool, ...]:
    """Returns the task states that an operator searches. True means done."""
    return _TASK_STATES.get(scope, ())


def _pieces(spans: Spans) -> Pieces:
    ends = [end for _, end in spans]
    return Pieces([start for start, _ in spans], ends, ends)


def _headings(note: NoteText) -> Pieces:
    """Returns the headings. The match of a heading includes all text under it, with deeper headings."""
    place_ends = [len(note.text)] * len(note.headings)
    open_headings: list[int] = []
    for number, heading in enumerate(note.headings):
        while open_headings and note.headings[open_headings[-1]].level >= heading.level:
            place_ends[open_headings.pop()] = heading.start
        open_headings.append(number)
    return Pieces(
        [heading.start for heading in note.headings], [heading.end for heading in note.headings], place_ends
    )


def _lines(note: NoteText) -> Pieces:
    lines = note.text[note.body_start :].splitlines(keepends=True)
    borders = list(accumulate(map(len, lines), initial=note.body_start))
    return Pieces(borders[:-1], borders[1:], borders[1:])


def read_structure(
    catalog: CatalogReader, scope: Scope, notes: Sequence[int]
) -> Callable[[int, str], NoteText]:
    """Reads from the catalog the headings, blocks or tasks of the notes that the pieces of a scope require.
    Returns the function that adds those of a note to its text."""
    headings: dict[int, list[HeadingRow]] = {}
    if scope in (Scope.HEADING, Scope.SECTION):
        sql = (
            "SELECT note_id, level, start_pos, end_pos FROM headings"
            " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
        )
        for note_id, level, start, end in catalog.rows_in(sql, notes):
            headings.setdefault(note_id, []).append(HeadingRow(level, start, end))
    blocks = catalog.block_spans(notes) if scope is Scope.BLOCK else {}
    tasks = catalog.tasks(notes) if task_states(scope) else {}
    return lambda note_id, text: NoteText(
        text, headings.get(note_id, ()), blocks.get(note_id), tasks.get(note_id)
    )
