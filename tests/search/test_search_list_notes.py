"""The notes of a small vault as a list: by folder, tag and time."""

import json
from pathlib import Path

from golden_cases import check_golden
from indexed_vault import Indexed, OpenNotes
from small_vault import NOTES

from vault_indexer.errors import UsageError

COMPOST, TOMATOES, TELESCOPE = "Garden/Compost.md", "Garden/Tomatoes.md", "Sky/Telescope.md"


def test_every_condition_that_is_given_holds_or_is_refused(indexed: Indexed) -> None:
    def listed(given: str) -> str:
        try:
            found = indexed[0].notes(**json.loads(given))
        except UsageError as refused:
            return f"refused: {refused}"
        assert found.count == len(found.notes)
        return ", ".join(one.path for one in found.notes)

    check_golden(Path(__file__).parent / "fixtures" / "lists.md", {"": listed})


def test_a_page_of_the_list_counts_all(indexed: Indexed) -> None:
    found = indexed[0].notes(limit=2, offset=1, order="recent")
    assert (found.count, len(found.notes)) == (len(NOTES), 2)
    first, second = found.notes
    assert (first.path, first.title, first.modified_time) == (COMPOST, "Compost", "2024-03-05T12:00:00Z")
    assert first.tags == ("area/garden", "soil")
    assert second.path == "Daily notes/2024-03-05.md", "notes of one time are listed by path"


def test_names_are_ordered_by_how_well_they_match(open_notes: OpenNotes) -> None:
    notes = {
        "Plan.md": "Whole.",
        "Planets.md": "Beginning.",
        "Garden plan.md": "A later word.",
        "Replanting.md": "Within a word.",
        "Plan/Beds.md": "In the path alone.",
        "Ideas.md": "---\naliases: [Plan B]\n---\nAn alias.",
        "Café à Paris.md": "Another note.",
    }
    service, _ = open_notes(notes)
    found = service.notes(name="PLAN").notes
    best_first = ("Plan", "Ideas", "Planets", "Garden plan", "Replanting", "Plan/Beds")
    assert [one.path for one in found] == [f"{name}.md" for name in best_first]
    assert {one.path: one.alias for one in found if one.alias} == {"Ideas.md": "Plan B"}
    page = service.notes(name="plan", limit=2, offset=1)
    assert ([one.path for one in page.notes], page.count) == (["Ideas.md", "Planets.md"], 6)
    assert [one.path for one in service.notes(name="paris cafe").notes] == ["Café à Paris.md"]
