"""A query that is asked with many settings finds what a search with each of them finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from indexed_vault import Indexed, indexed_vault, write_notes

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


def test_attachments_and_copies_have_their_places(tmp_path: Path) -> None:
    text = "The harbour plan shows the quay, the crane and the ferry, and where boats may wait."
    notes = {f"Copy {n}.md": text for n in range(3)} | {"Other.md": "A harbour is a place for boats."}
    vault = write_notes(tmp_path / "vault", notes)
    (vault / "harbour plan.pdf").write_bytes(b"%PDF-1.4")
    with indexed_vault(vault, tmp_path / "index") as (_, reader), reader.holder.lease() as snapshot:
        repeated = RepeatedQuery(reader.searcher.embedder, snapshot, "harbour plan", 7)
        found = repeated.paths(SearchSettings())
        assert found == found_by_search(reader, SearchSettings(), "harbour plan")
    assert found == ["Copy 0.md", "harbour plan.pdf", "Other.md"]


def test_a_note_of_many_chunks_stands_once(tmp_path: Path) -> None:
    sections = "\n\n".join(f"## Berth {n}\n\nThe harbour has a crane and a quay {n}." for n in range(4))
    vault = write_notes(tmp_path / "vault", {"Harbour.md": sections, "Other.md": "A harbour for boats."})
    with indexed_vault(vault, tmp_path / "index") as (_, reader), reader.holder.lease() as snapshot:
        found = RepeatedQuery(reader.searcher.embedder, snapshot, "harbour crane", 7).paths(SearchSettings())
    assert found == ["Harbour.md", "Other.md"]
