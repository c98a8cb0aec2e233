"""Notes with the same text are one hit, which names the others."""

from pathlib import Path

import pytest
from note_files import read_notes

from vault_indexer.model import Hit, SearchRequest
from vault_indexer.service import VaultService

BODY = (
    "Kestrels hover over the verge of the motorway and look for voles in the grass.\n\n"
    + "They nest in holes of old trees and in church towers, and take no material there. " * 12
    + "\n\n## Rings\n\nRing number 4711 was read on a kestrel at the quarry in June.\n"
)
NOTES = read_notes(Path(__file__).parent / "fixtures" / "copies_vault.md")


def hits(service: VaultService, query: str, *, by_note: bool) -> list[Hit]:
    return list(service.search(SearchRequest(query, limit=50, by_note=by_note)).results)


COPIES = {"Kestrel.md", "Kestrel (copy).md", "Old kestrel.md"}


@pytest.mark.parametrize("by_note", [True, False])
@pytest.mark.parametrize("query", ["kestrel ring number", "hover over the motorway", "old kestrel"])
def test_one_of_them_is_shown_and_names_the_others(service: VaultService, query: str, by_note: bool) -> None:
    shown = [hit for hit in hits(service, query, by_note=by_note) if hit.path in COPIES]
    assert len({hit.path for hit in shown}) == 1
    assert all(set(hit.copies) == COPIES - {hit.path} for hit in shown)


def test_of_two_notes_one_is_shown_and_names_the_other(service: VaultService) -> None:
    (shown,) = [hit for hit in hits(service, "heron ring number", by_note=True) if "Heron" in hit.path]
    assert {shown.path, *shown.copies} == {"Heron.md", "Heron again.md"}


def test_the_note_that_the_query_names_stands_for_them(service: VaultService) -> None:
    assert hits(service, "old kestrel", by_note=True)[0].path == "Old kestrel.md"


def test_a_text_that_differs_is_no_copy(service: VaultService) -> None:
    shown = {hit.path: hit.copies for hit in hits(service, "kestrel ring number", by_note=True)}
    assert shown["Kestrel draft.md"] == shown["Kestrel by Ann.md"] == ()


def test_notes_with_hardly_any_text_are_shown_each(service: VaultService) -> None:
    paths = [hit.path for hit in hits(service, "kestrel", by_note=True)]
    assert {"Short one.md", "Short two.md"} <= set(paths)


def test_a_filter_alone_lists_every_file(service: VaultService) -> None:
    assert {hit.path for hit in hits(service, "path:kestrel", by_note=True)} >= COPIES


def test_explain_says_with_which_note_a_copy_is_shown(service: VaultService) -> None:
    query = SearchRequest("old kestrel", by_note=True)
    copy = service.explain("Kestrel.md", query)
    assert not copy.shown
    assert copy.reasons == ("it has the same text as Old kestrel.md, and is shown with it",)
    assert service.explain("Old kestrel.md", query).shown
