"""Fields in the text of notes are properties of the notes and of their tasks."""

import shutil
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

from golden_cases import check_golden
from indexed_vault import Indexed, notes_left

from vault_indexer.model import SearchRequest
from vault_indexer.search.vault_contents import list_tasks
from vault_indexer.store.catalog.reader import CatalogReader

NOTES = {
    "Book.md": "---\nrating: 2\nauthor: null\n---\nA long tale (Rating:: 5).\n**Read On**:: 2026-03-01\n",
    "Film.md": "rating:: 3\nstatus:: in progress\ngenre:: [[Drama]], [[War]]\nreleased:: 2026-01\n"
    "\n`[rating:: 9]`\n",
    "Plan.md": "- [ ] pay rent 📅 2026-11-30 ⏫\n- [ ] call [due:: 2026-12-15]\n- [x] post 📅 2026-01-02\n",
    "Work.md": "- [x] report 📅 2026-11-01\n- [ ] read [pages:: 20]\n\n```\n- [ ] no 📅 2026-11-01\n```\n",
    "Next.md": "- [ ] travel [due:: 2027-01-05] (priority:: low)\n\nThe rent is 400.\n",
}


def test_filters_meet_fields(opened: Indexed) -> None:
    golden = Path(__file__).parent / "fixtures" / "fields.md"
    check_golden(golden, {"": lambda query: " ".join(sorted(notes_left(opened[1], query)))})


def test_the_hit_of_a_filter_on_tasks_is_the_task(opened: Indexed) -> None:
    hit = opened[0].search(SearchRequest("task-due:<2026-12-01")).results[0]
    assert (hit.path, hit.line) == ("Plan.md", 1)
    assert hit.fields["priority"] == "high"


def test_fields_are_offered_and_counted(opened: Indexed) -> None:
    assert [item.text for item in opened[0].complete("[rat", 5).items] == ["[rating]"]
    assert [item.text for item in opened[0].complete("[rating:", 5).items] == [
        '[rating:"2"]',
        '[rating:"3"]',
        '[rating:"5"]',
    ]
    summaries = {one.name: (one.notes, one.type) for one in opened[0].overview().properties}
    assert summaries["rating"] == (2, "list")
    assert summaries["due"] == (3, "date")


def test_a_task_is_due_at_the_date_outside_of_code(opened: Indexed) -> None:
    with opened[1].holder.lease() as snapshot:
        found = list_tasks(snapshot.catalog, "all", today=date(2026, 12, 1))
        overdue = list_tasks(snapshot.catalog, "overdue", today=date(2026, 12, 1))
        due_today = list_tasks(snapshot.catalog, "overdue", today=date(2026, 11, 30))
    assert [task.due for task in found] == [
        "2027-01-05",
        "2026-11-30",
        "2026-12-15",
        "2026-01-02",
        "2026-11-01",
        "",
    ]
    assert [task.text for task in overdue] == ["- [ ] pay rent 📅 2026-11-30 ⏫"]
    assert due_today == []


def test_a_catalog_from_before_fields_were_kept_is_read(opened: Indexed, tmp_path: Path) -> None:
    with opened[1].holder.lease() as snapshot:
        (_, _, source), *_ = snapshot.catalog.rows("PRAGMA database_list")
    for file in Path(source).parent.glob("catalog.db*"):
        shutil.copy(file, tmp_path / file.name)
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as database:
        database.executescript("DROP TABLE fields")
    with closing(CatalogReader(tmp_path / "catalog.db")) as catalog:
        assert (catalog.fields([1, 2]), catalog.fields_named("due")) == ({}, [])
        assert [dict(one) for one in catalog.properties()] == [{"rating": 2, "author": None}]
