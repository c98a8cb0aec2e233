"""Properties with a time of day are found by their day, and tags of numbers by the filter for tags."""

from pathlib import Path

from golden_cases import check_golden

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


def test_a_filter_finds(service: VaultService) -> None:
    def found(query: str) -> str:
        return " ".join(sorted(hit.path for hit in service.search(SearchRequest(query)).results))

    check_golden(Path(__file__).parent / "fixtures" / "property_times.md", {"": found})


def test_a_day_is_a_word(service: VaultService) -> None:
    hits = service.search(SearchRequest("2024-02-26")).results
    assert {hit.path for hit in hits if hit.why.keyword} >= {"Space.md", "Iso.md"}
