"""A query that is asked with many settings finds what a search with each of them finds."""

from __future__ import annotations

import pytest
from indexed_vault import Indexed, OpenNotes

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import SearchRequest
from vault_indexer.search import RepeatedQuery
from vault_indexer.search.searcher import IndexReader

QUERIES = (
    "telescope",
    "how do rings open",
    "bread with a ripe starter in the oven",
    "sourdough",
    "the and of",
    "wolken am abend",
    "plan",
)
SETTINGS = [
    {"rerank": rerank, "weights": {"vector": vector, "keyword": keyword, "graph": graph}, **others}
    for rerank in (0, 100)
    for vector, keyword in ((1, 1), (1, 0.5), (1, 2), (1, 0), (0, 1))
    for graph in (0, 0.5, 1)
    for others in ({}, {"recency": {"enabled": False}}, {"synonyms": {"groups": [["plan", "telescope"]]}})
]


def found_by_search(reader: IndexReader, settings: SearchSettings, query: str) -> list[str]:
    request = SearchRequest(query, 7, by_note=True, min_relevance=0.0)
    with reader.holder.lease() as snapshot:
        hits = reader.searcher.with_settings(settings).search(snapshot, request).hits
    return [hit.path for hit in hits]


@pytest.mark.parametrize(
    "query", [*QUERIES[:1], *(pytest.param(one, marks=pytest.mark.long) for one in QUERIES[1:])]
)
def test_settings_find_the_same_one_after_the_other(indexed: Indexed, query: str) -> None:
    _, reader = indexed
    chosen = [SearchSettings.model_validate(one) for one in SETTINGS]
    with reader.holder.lease() as snapshot:
        repeated = RepeatedQuery(reader.searcher.embedder, snapshot, query, 7)
        found = [repeated.paths(one) for one in chosen]
    assert found == [found_by_search(reader, one, query) for one in chosen]
    assert any(found)


TEXT = "The harbour plan shows the quay, the crane and the ferry, and where boats may wait."
COPIES = {f"Copy {n}.md": TEXT for n in range(3)} | {"harbour plan.pdf": "%PDF-1.4"}
SECTIONS = "\n\n".join(f"## Berth {n}\n\nThe harbour has a crane and a quay {n}." for n in range(4))


@pytest.mark.parametrize(
    ("notes", "query", "expected"),
    [
        (COPIES, "harbour plan", ["Copy 0.md", "harbour plan.pdf", "Other.md"]),
        ({"Harbour.md": SECTIONS}, "harbour crane", ["Harbour.md", "Other.md"]),
    ],
    ids=["attachments and copies have their places", "a note of many chunks stands once"],
)
def test_each_note_has_its_place(
    open_notes: OpenNotes, notes: dict[str, str], query: str, expected: list[str]
) -> None:
    _, reader = open_notes(notes | {"Other.md": "A harbour is a place for boats."})
    with reader.holder.lease() as snapshot:
        found = RepeatedQuery(reader.searcher.embedder, snapshot, query, 7).paths(SearchSettings())
    assert found == expected == found_by_search(reader, SearchSettings(), query)
