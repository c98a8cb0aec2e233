"""What the catalog holds of the structure of notes: headings, blocks, tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_indexer.parse import Task
from vault_indexer.search.filters.matches import Span
from vault_indexer.search.filters.scopes import HeadingRow, NoteText, task_states
from vault_indexer.search.query import Scope
from vault_indexer.store.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure of some notes, by note. What was not asked for is None; a note that is not there has no
    headings, and of its blocks and tasks the catalog knows nothing."""

    headings: Mapping[int, list[HeadingRow]] | None = None
    blocks: Mapping[int, list[Span]] | None = None
    tasks: Mapping[int, list[Task]] | None = None

    def note(self, note_id: int, text: str) -> NoteText:
        """A note's text with its structure."""
        return NoteText(
            text,
            (self.headings or {}).get(note_id, ()),
            (self.blocks or {}).get(note_id),
            (self.tasks or {}).get(note_id),
        )


def read_structure(catalog: CatalogReader, scope: Scope, notes: Sequence[int]) -> Structure:
    """The structure of the notes, as far as it takes to find the pieces of a scope."""
    if scope in (Scope.HEADING, Scope.SECTION):
        return Structure(headings=_headings(catalog, notes))
    if scope is Scope.BLOCK:
        return Structure(blocks=catalog.block_spans(notes))
    if task_states(scope):
        return Structure(tasks=catalog.tasks(notes))
    return Structure()


def _headings(catalog: CatalogReader, notes: Sequence[int]) -> Mapping[int, list[HeadingRow]]:
    sql = (
        "SELECT note_id, level, start_pos, end_pos FROM headings"
        " WHERE note_id IN (%s) AND NOT nested ORDER BY note_id, ord"
    )
    found: dict[int, list[HeadingRow]] = {}
    for note_id, level, start, end in catalog.rows_in(sql, notes):
        found.setdefault(note_id, []).append(HeadingRow(level, start, end))
    return found
