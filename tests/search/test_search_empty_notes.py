"""Notes with hardly any text have no vector: they are found by words and links, and are near nothing."""

import pytest
from indexed_vault import Indexed

from vault_indexer.model import SearchRequest

HARDLY_ANY = {
    "Empty.md": "",
    "Untitled.md": "# Untitled\n",
    "Properties.md": "---\ntags: [idea]\ncreated: 2024-02-26\ncssclasses: [wide]\n---\n",
    "Picture.md": "![[a very long name of a picture that nobody reads.png]]\n",
    "Address.md": "https://example.org/a-very-long-address/that-nobody-reads\n",
    "短い.md": "# 短い\n\n後で書く。\n",
}
TEXTS = {
    "Boiler.md": "# Boiler\n\nThe boiler in the cellar loses water, the valve drips. See [[Untitled]].\n",
    "Heating.md": "# Heating\n\nRadiators stay cold in winter until somebody bleeds them with a key.\n",
    "Tea.md": "# 茶\n\n绿茶应该用八十度的水冲泡。\n",
    "Described.md": "---\ndescription: How a heat pump warms a house in winter\n---\n",
}
NOTES = HARDLY_ANY | TEXTS


def test_what_has_hardly_any_text_has_no_vector(opened: Indexed) -> None:
    _, reader = opened
    with reader.holder.lease() as snapshot:
        catalog = snapshot.catalog
        with_vector = {
            path for path in NOTES if catalog.chunk_vectors(reader.model, catalog.chunk_keys_at([path])[path])
        }
    assert with_vector == TEXTS.keys()


@pytest.mark.parametrize("query", ["warm rooms in the cold season", "leaking", "wohnung heizen"])
def test_no_query_finds_it_by_meaning(opened: Indexed, query: str) -> None:
    answer = opened[0].search(SearchRequest(query))
    found = {hit.path: hit for hit in answer.results if hit.path in HARDLY_ANY}
    assert found.keys() <= {"Untitled.md"}, "by its link"
    assert all(hit.why.vector is None and hit.relevance < 0.5 for hit in found.values())


def test_it_is_found_by_its_name(opened: Indexed) -> None:
    (hit, *_) = opened[0].search(SearchRequest("untitled")).results
    assert (hit.path, hit.why.vector) == ("Untitled.md", None)


def test_it_is_related_by_links_alone(opened: Indexed) -> None:
    related = {near.path: near for near in opened[0].related("Boiler")}
    assert related.keys() & HARDLY_ANY.keys() == {"Untitled.md"}
    assert related["Untitled.md"].similarity is None
    assert opened[0].related("Empty") == ()
