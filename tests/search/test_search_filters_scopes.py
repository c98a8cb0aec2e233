"""Blocks and tasks that the catalog keeps are those of the text, and are found without being kept."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from indexed_vault import Indexed, OpenNotes

from vault_indexer.model import SearchRequest
from vault_indexer.parse import Task
from vault_indexer.search.filters.scopes import HeadingRow, NoteText, Pieces, pieces, task_states
from vault_indexer.search.query.ast import Scope
from vault_indexer.store.catalog.reader import CatalogReader


def test_what_is_kept_is_what_the_text_says(indexed: Indexed) -> None:
    with indexed[1].holder.lease() as snapshot:
        catalog = snapshot.catalog
        ids = [row[0] for row in catalog.rows("SELECT note_id FROM notes")]
        blocks, tasks = catalog.block_spans(ids), catalog.tasks(ids)
        assert blocks.keys() == tasks.keys() == set(ids)
        assert sum(map(len, tasks.values())) == 3
        for note_id in ids:
            text = catalog.text(note_id)
            kept = NoteText(text, blocks=blocks[note_id], tasks=tasks[note_id])
            for scope in (Scope.BLOCK, Scope.TASK, Scope.TASK_TODO, Scope.TASK_DONE):
                assert pieces(kept, scope) == pieces(NoteText(text), scope)


def test_a_catalog_from_before_they_were_kept_is_read(indexed: Indexed, tmp_path: Path) -> None:
    with indexed[1].holder.lease() as snapshot:
        (_, _, source), *_ = snapshot.catalog.rows("PRAGMA database_list")
    old = tmp_path / "catalog.db"
    for file in Path(source).parent.glob("catalog.db*"):
        shutil.copy(file, tmp_path / file.name)
    with closing(sqlite3.connect(old)) as database:
        database.executescript("DROP TABLE block_spans; DROP TABLE tasks;")
    with closing(CatalogReader(old)) as catalog:
        ids = [row[0] for row in catalog.rows("SELECT note_id FROM notes")]
        assert catalog.block_spans(ids) == {}
        assert catalog.tasks(ids) == {}
        assert catalog.notes_with_task([True]) == ids


@pytest.mark.parametrize(
    "text",
    ["---\nstatus: harbour\n...\nThe ferry waits.\n", "---\rstatus: harbour\r---\rThe ferry waits.\r"],
    ids=["dots", "carriage returns"],
)
def test_the_content_begins_behind_every_end_of_frontmatter(open_notes: OpenNotes, text: str) -> None:
    service, _ = open_notes({"Tides.md": text})
    assert service.search(SearchRequest("content:ferry")).results
    assert not service.search(SearchRequest("content:harbour")).results


TEXT = "---\na: b\n---\nintro\n# A\na\n\n## B\nb\n# C\n- [ ] open\n- [x] done\n"
BODY = TEXT[13:]
SECTIONS = ["intro\n", "# A\na\n\n", "## B\nb\n", "# C\n- [ ] open\n- [x] done\n"]
HEADINGS = [(1, "# A"), (2, "## B"), (1, "# C")]


def note_of(**known: object) -> NoteText:
    rows = [HeadingRow(level, TEXT.index(one), TEXT.index(one) + len(one)) for level, one in HEADINGS]
    return NoteText(TEXT, rows, **known)  # type: ignore[arg-type]  # as named


@pytest.mark.parametrize(
    ("scope", "found", "places"),
    [
        (Scope.CONTENT, [BODY], [BODY]),
        (Scope.LINE, BODY.splitlines(keepends=True), BODY.splitlines(keepends=True)),
        (Scope.HEADING, ["# A", "## B", "# C"], ["".join(SECTIONS[1:3]), SECTIONS[2], SECTIONS[3]]),
        (Scope.SECTION, SECTIONS, SECTIONS),
        (Scope.TASK, ["- [ ] open", "- [x] done"], ["- [ ] open", "- [x] done"]),
        (Scope.TASK_DONE, ["- [x] done"], ["- [x] done"]),
        (Scope.PATH, [], []),
    ],
)
def test_the_pieces_of_each_scope_and_the_places_that_they_show(
    scope: Scope, found: list[str], places: list[str]
) -> None:
    made = pieces(note_of(), scope)
    for ends, texts in ((made.ends, found), (made.place_ends, places)):
        assert [TEXT[start:end] for start, end in zip(made.starts, ends, strict=True)] == texts


def test_known_tasks_are_not_parsed_again_and_an_empty_beginning_is_no_section() -> None:
    known = [Task(13, 18, is_done=True), Task(19, 22, is_done=False)]
    assert list(pieces(note_of(tasks=known), Scope.TASK_TODO).starts) == [19]
    assert task_states(Scope.LINE) == ()
    assert list(pieces(NoteText("# A\n", [HeadingRow(1, 0, 3)]), Scope.SECTION).starts) == [0]


def test_a_position_is_in_a_piece_or_before_the_next() -> None:
    looks = Pieces([2, 5, 9], [4, 9, 10], [4, 9, 12])
    assert [looks.at(position) for position in range(11)] == [None, None, 0, 0, None, 1, 1, 1, 1, 2, None]
    assert [looks.at_or_behind(at) for at in range(12)] == [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, None]
