"""`search.synonyms`: the user's own other words for a thing."""

import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from indexed_vault import OpenNotes

from vault_indexer.model import Hit, SearchRequest
from vault_indexer.search.terms import Groups
from vault_indexer.service import VaultService

GROUPS = (
    ("automobile", "car", "motor vehicle"),
    ("ключ", "пароль"),
    ("电脑", "计算机"),
    ("hut", "alpine shelter"),
    ("kestral", "falconry"),
    ("loaf", "bun", "bread roll"),
)
NOTES = {
    "Garage.md": "# Garage\n\nThe car is green and has four doors.\n",
    "Register.md": "# Register\n\nEach motor vehicle has a number and a plate.\n",
    "Bakery.md": "# Bakery\n\nA bun is a small bread roll.\n",
    "Workshop.md": "# Workshop\n\nThe motor of the pump makes a noise.\n",
    "Brochure.md": "# Brochure\n\nAn automobile of 1930 stood in the museum.\n",
    "Router.md": "# Роутер\n\nПароль от роутера записан на коробке.\n",
    "Desk.md": "# 桌子\n\n桌子上有一台计算机。\n",
    "Ridge.md": "# Ridge\n\nThe hut is open from June to September.\n",
    **{f"Bird {number}.md": f"A kestrel, seen {number} times.\n" for number in range(2, 7)},
    "Soup.md": "# Soup\n\nPeas and mint, cooked for an hour.\n",
}


def opened_with(open_notes: OpenNotes, groups: Groups) -> VaultService:
    written = json.dumps(groups, ensure_ascii=False)  # which TOML reads too
    return open_notes(NOTES, options={"search.weights.vector": 0, "search.synonyms.groups": written})[0]


@pytest.fixture(scope="module")
def service(open_notes: OpenNotes) -> VaultService:
    return opened_with(open_notes, GROUPS)


@pytest.fixture(scope="module")
def without(open_notes: OpenNotes) -> VaultService:
    return opened_with(open_notes, ())


def hits(service: VaultService, query: str) -> list[Hit]:
    return list(service.search(SearchRequest(query, limit=20)).results)


def test_a_note_is_found_by_a_synonym_and_why_says_so(service: VaultService) -> None:
    def synonyms(query: str, path: str) -> str:
        hit = next(hit for hit in hits(service, query) if hit.path == path)
        assert hit.why.keyword is not None
        return ", ".join(f"{found} for {asked}" for found, asked in hit.why.keyword.synonyms.items())

    check_golden(Path(__file__).parent / "fixtures" / "synonym_hits.md", {"": of_parts(synonyms)})


def test_without_groups_only_the_words_of_the_query_are_searched(without: VaultService) -> None:
    found = hits(without, "automobile")
    assert [hit.path for hit in found] == ["Brochure.md"]
    assert found[0].why.keyword is not None
    assert not found[0].why.keyword.synonyms


def test_what_holds_the_words_of_the_query_comes_first(service: VaultService) -> None:
    order = [hit.path for hit in hits(service, "automobile")]
    assert order[0] == "Brochure.md"
    assert set(order) >= {"Garage.md", "Register.md"}


def test_a_synonym_is_marked_in_the_snippet(service: VaultService) -> None:
    hit = next(hit for hit in hits(service, "automobile") if hit.path == "Garage.md")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["car"]


def test_a_hit_by_a_synonym_is_about_the_query(service: VaultService, without: VaultService) -> None:
    query = "open alpine shelter"
    by_synonym = next(hit for hit in hits(service, query) if hit.path == "Ridge.md")
    plain = next(hit for hit in hits(without, query) if hit.path == "Ridge.md")
    assert service.search(SearchRequest(query)).verdict == "strong"
    # Each word of the phrase is covered, not only its first.
    assert by_synonym.relevance > 0.9 > plain.relevance + 0.5


def test_a_word_of_a_group_is_not_corrected(service: VaultService, without: VaultService) -> None:
    assert [one.searched for one in without.search(SearchRequest("kestral")).corrections] == ["kestrel"]
    assert not service.search(SearchRequest("kestral")).corrections
