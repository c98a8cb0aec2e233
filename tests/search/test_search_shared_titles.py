"""A heading that several notes begin with tells them apart less than their file names do."""

import pytest

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {
    "Borscht.md": "# Ingredients\n\nBeetroot, cabbage, dill and a spoon of vinegar.\n",
    "Lentil dal.md": "# Ingredients\n\nRed lentils, ginger, turmeric and a spoon of ghee.\n",
    "Declared.md": "---\ntitle: Ingredients\n---\n\n# Ingredients\n\nSaffron and a spoon of butter.\n",
    "Stock.md": "# Bones and water\n\nBones, water and a spoon of salt.\n",
}


def test_the_file_name_is_shown_and_the_heading_stands_beside_it(service: VaultService) -> None:
    found = {hit.path: hit for hit in service.search(SearchRequest("spoon", limit=10)).results}
    assert {path: hit.title for path, hit in found.items()} == {
        "Borscht.md": "Borscht",
        "Lentil dal.md": "Lentil dal",
        "Declared.md": "Ingredients",
        "Stock.md": "Bones and water",
    }
    assert found["Borscht.md"].header_path == "Ingredients"


@pytest.mark.parametrize("query", ["borscht", "ingredients beetroot"])
def test_both_are_searched(service: VaultService, query: str) -> None:
    assert service.search(SearchRequest(query)).results[0].path == "Borscht.md"
