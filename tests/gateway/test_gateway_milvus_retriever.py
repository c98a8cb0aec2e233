"""What a search on the server finds of a vault: by words, by meaning, within a filter and a scope."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from gateway_lab import Team, id_of, publish
from golden_cases import check_golden

from vault_gateway.milvus import MilvusRetriever
from vault_gateway.milvus.retrieval import FoundChunk, Selection, VaultScope
from vault_indexer.model import note_id_of
from vault_indexer.ports import Embedder
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

VAULT = id_of("garden")
SCOPE = VaultScope.of([VAULT])
ALL = Selection(limit=50)
NOTES = {
    "Garden/Compost.md": "---\ntags: [area/garden, Soil]\n---\n# Compost\n\nDry leaves rot to black earth.\n",
    "Garden/Beds/Beans.md": "---\ntags: [area/garden]\n---\n# Beans\n\nBeans climb a pole of hazel.\n",
    "Gardening.md": "# Gardening\n\nA spade, a rake and a hoe hang in the shed.\n",
    "Sky/Saturn.md": "---\ntags: [planet]\n---\n# Saturn\n\nThe rings of Saturn are ice and rock.\n",
    "Sky/土星.md": "# 土星\n\n土星的光环由冰块和岩石组成。\n",
    "Sky/Map.canvas": '{"nodes": [{"id": "a", "type": "text", "text": "Saturn beside Jupiter, seen in June", '
    '"x": 0, "y": 0, "width": 9, "height": 9}], "edges": []}',
    "Long.md": "# Long\n\n"
    + "".join(f"## Part {n}\n\n{'The kiln burns hazel and oak at night. ' * 30}\n\n" for n in range(6)),
}
TEXT = "Saturn rings ice beans pole hazel leaves spade kiln oak 土星"


@dataclass(frozen=True)
class Garden:
    """The published vault, and its index here."""

    retriever: MilvusRetriever
    catalog: CatalogReader
    embedder: Embedder

    def everything(self, selection: Selection, scope: VaultScope = SCOPE) -> list[list[FoundChunk]]:
        """What each kind of question finds with a selection."""
        near = self.retriever.nearest(scope, self.embedder.embed_query(TEXT), selection)
        return [near, self.retriever.best(scope, terms(TEXT), selection)]


@pytest.fixture(scope="module")
def garden(new_team: Callable[[], Team]) -> Iterator[Garden]:
    team = new_team()
    generation, embedder = publish(team, "garden", notes=NOTES)
    state = team.vaults.state(VAULT)
    assert state is not None
    with CatalogReader(generation.catalog) as catalog:
        yield Garden(MilvusRetriever(team.vaults.connection, state.collection, [state]), catalog, embedder)


def terms(text: str) -> list[QueryTerm]:
    return analyze_query(text, ("en", "zh"))


def paths(found: Sequence[FoundChunk]) -> list[str]:
    return [one.path for one in found]


def test_a_hit_says_which_chunk_of_which_note_it_is(garden: Garden) -> None:
    first = garden.retriever.best(SCOPE, terms("rings of Saturn"), ALL)[0]
    note = garden.catalog.note("Sky/Saturn.md")
    assert note is not None
    assert (first.vault, first.path) == (VAULT, note.path)
    assert first.note_id == note_id_of(first.key) == note.note_id
    assert first.key in garden.catalog.chunks([first.key])


def test_the_nearest_are_those_of_a_comparison_with_every_vector(garden: Garden) -> None:
    query = garden.embedder.embed_query("planets with rings")
    held = {
        key: np.frombuffer(row, np.float16).astype(np.float32) @ query
        for key, row in garden.catalog.all_chunk_vectors(garden.embedder.model.key)
    }
    expected = sorted(held, key=lambda key: (-held[key], key))
    found = garden.retriever.nearest(SCOPE, query, ALL)
    assert [one.key for one in found] == expected
    assert [one.score for one in found] == pytest.approx([held[key] for key in expected], abs=1e-5)


def test_words_and_filters_find_what_the_golden_says(garden: Garden) -> None:
    def first(query: str) -> str:
        return "".join(paths(garden.retriever.best(SCOPE, terms(query), ALL))[:1])

    def left(keys: str) -> str:
        chosen = {name: tuple(values) for name, values in json.loads(keys).items()}
        near, best = (set(paths(found)) for found in garden.everything(Selection(50, **chosen)))
        assert near == best
        return ", ".join(sorted(near))

    check_golden(
        Path(__file__).parent / "fixtures" / "retriever.md",
        {
            "A word is found as our analysis sees it": first,
            "A filter leaves the same notes in every kind of search": left,
        },
    )


def test_notes_are_chosen_by_their_ids(garden: Garden) -> None:
    notes = [garden.catalog.note(path) for path in ("Long.md", "Gardening.md")]
    chosen = {note.path: note.note_id for note in notes if note}
    for found in garden.everything(Selection(50, note_ids=tuple(chosen.values()))):
        assert set(paths(found)) == set(chosen) == {"Long.md", "Gardening.md"}


def test_a_scope_without_the_vault_or_a_question_without_words_finds_nothing(garden: Garden) -> None:
    for scope in (VaultScope.of([]), VaultScope.of(["another"])):
        assert garden.everything(ALL, scope) == [[], []]
    nothing = np.zeros_like(garden.embedder.embed_query("x"))
    assert garden.retriever.nearest(SCOPE, nothing, ALL) == []
