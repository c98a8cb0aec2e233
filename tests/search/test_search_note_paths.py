"""Notes are named by their paths: those with blanks at an end, and where a hit leads."""

import pytest

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

PATHS = (" first.md", " folder/note .md", "first.md")
NOTES = {path: f"# About {path}\n\nThe ferry leaves at noon. [[folder/note ]]\n" for path in PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_a_hit_names_leads_to_the_note(service: VaultService, path: str) -> None:
    assert path in {hit.path for hit in service.search(SearchRequest("ferry")).results}
    assert service.view(path).path == path
    assert service.links(path).path == path
    assert service.explain(path, SearchRequest("ferry")).path == path
    assert path not in {one.path for one in service.related(path)}


def test_blanks_around_a_name_do_not_count_where_no_note_has_them(service: VaultService) -> None:
    assert service.path_of("  first  ") == "first.md"
    assert service.path_of(f" {service.vault}/first.md ") == "first.md"


def test_a_hit_opens_obsidian_only_in_a_vault_of_obsidian(service: VaultService) -> None:
    def uri() -> str:
        return service.search(SearchRequest("About first")).results[0].uri

    assert uri().startswith("file:///")
    assert service.view("first.md").uri == (service.vault / "first.md").as_uri()
    (service.vault / ".obsidian").mkdir()
    assert uri().startswith("obsidian://open?path=")
    assert service.view("first.md").uri.startswith("obsidian://open?path=")
