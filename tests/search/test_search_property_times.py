"""Properties with a time of day are found by their day, and tags of numbers by the filter for tags."""

import pytest

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {
    "Space.md": "---\ncreated: 2024-02-26 16:24:46\n---\nA note on the weather in the valley today.\n",
    "Iso.md": "---\ncreated: 2024-02-26T09:00:00\n---\nA note on the tomatoes of the neighbour today.\n",
    "Day.md": "---\ncreated: 2024-02-27\n---\nA note on the boiler that lost its pressure today.\n",
    "Law.md": "---\ntags: 364/4,331/114\n---\nA note on a paragraph of the law of the land.\n",
    "List.md": "---\ntags: [364/4, 1984]\n---\nA note on another paragraph of the law of the land.\n",
    "Text.md": "The fraction #364/4 in a text is no tag, and neither is a number of something.\n",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("[created:2024-02-26]", {"Space.md", "Iso.md"}),
        ('[created:"2024-02-26"]', {"Space.md", "Iso.md"}),
        ("[created:2024-02]", {"Space.md", "Iso.md", "Day.md"}),
        ("[created:2024-02-27]", {"Day.md"}),
        ('[created:"2024-02-26 16:24:46"]', {"Space.md"}),
        ("[created:2024-02-2]", set()),
        ("tag:#364/4", {"Law.md", "List.md"}),
        ("tag:#364", {"Law.md", "List.md"}),
        ("tag:#331/114", {"Law.md"}),
        ("[tags:364/4]", {"Law.md", "List.md"}),
        ("tag:#1984", set()),
    ],
)
def test_a_filter_finds(service: VaultService, query: str, expected: set[str]) -> None:
    assert {hit.path for hit in service.search(SearchRequest(query)).results} == expected


def test_a_day_is_a_word(service: VaultService) -> None:
    hits = service.search(SearchRequest("2024-02-26")).results
    assert {hit.path for hit in hits if hit.why.keyword} >= {"Space.md", "Iso.md"}
