"""A language of one note adds no stems to queries in the language of all others."""

import pytest

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {
    "Plane.md": "The plane is in the drawer with the other tools for wood.",
    "Plan.md": "A plan of the garden, drawn to scale with all the beds.",
    **{
        f"Bed {number}.md": f"Bed number {number} of the garden is for the beans, with a printed label."
        for number in range(12)
    },
    "Taken for German.md": "---\nlang: de\n---\nDer Garten hat ein Beet mit Bohnen.",
    "Taken for Czech.md": "---\nlang: cs\n---\nSituace na zahradě, a k tomu dva stromy ve stínu.",
}


def holding(service: VaultService, query: str, word: str) -> set[str]:
    hits = service.search(SearchRequest(query)).results
    return {hit.path for hit in hits if hit.why.keyword and word in hit.why.keyword.terms}


@pytest.mark.parametrize("query", ["plane", "where is the plane"])
def test_its_stems_are_of_no_word_that_other_notes_hold(service: VaultService, query: str) -> None:
    assert holding(service, query, "plane") == {"Plane.md"}


@pytest.mark.parametrize("query", ["strom", "co je ve stínu a jaký strom"])
def test_its_words_are_found_by_its_stems(service: VaultService, query: str) -> None:
    assert holding(service, query, "strom") == {"Taken for Czech.md"}


def test_a_frequent_stem_of_another_language_is_no_form_of_a_word_that_no_note_has(
    service: VaultService,
) -> None:
    answer = service.search(SearchRequest("printer"))
    assert (answer.missing_words, answer.corrections, answer.verdict) == (("printer",), (), "none")
