"""One contract for both backends of the derived indices: every test runs over each."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from retrieval_backends import SCOPE, VAULT, Backend, backend, paths, terms, vector

from vault_gateway.milvus.retrieval import FoundChunk, Selection, VaultScope
from vault_indexer.model import note_id_of
from vault_indexer.store import IndexDir
from vault_indexer.store.catalog import CatalogReader

ALL = Selection(limit=50)


@pytest.fixture(scope="module", params=["embedded", "milvus"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """A vault that no test changes."""
    yield from made(request, tmp_path_factory.mktemp("kept"), "kept")


@pytest.fixture(params=["embedded", "milvus"])
def edited(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """A vault of the test's own."""
    yield from made(request, tmp_path, f"edited_{abs(hash(tmp_path)):x}")


def made(request: pytest.FixtureRequest, folder: Path, prefix: str) -> Iterator[Backend]:
    uri = request.getfixturevalue("shared_server").uri if request.param == "milvus" else ""
    with backend(request.param, folder / "place", uri, prefix) as one:
        yield one


def everything(of: Backend, selection: Selection, scope: VaultScope = SCOPE) -> list[list[FoundChunk]]:
    """What each kind of question finds with a selection."""
    text = "Saturn rings ice beans pole hazel leaves spade kiln oak 土星"
    retriever, query = of.retriever(), vector(of, text)
    return [
        retriever.nearest(scope, query, selection),
        retriever.best(scope, terms(text), selection),
    ]


def test_a_hit_says_which_chunk_of_which_note_it_is(kept: Backend) -> None:
    first = kept.retriever().best(SCOPE, terms("rings of Saturn"), ALL)[0]
    catalog = catalog_of(kept)
    assert (first.vault, first.path) == (VAULT, "Sky/Saturn.md")
    assert first.note_id == note_id_of(first.key) == catalog.note("Sky/Saturn.md").note_id  # type: ignore[union-attr]
    assert first.key in catalog.chunks([first.key])
    catalog.close()


def test_the_nearest_are_those_of_a_comparison_with_every_vector(kept: Backend) -> None:
    catalog = catalog_of(kept)
    model = kept.session.reader().model  # type: ignore[attr-defined]
    query = vector(kept, "planets with rings")
    held = {
        key: np.frombuffer(row, np.float16).astype(np.float32) @ query
        for key, row in catalog.all_chunk_vectors(model)
    }
    expected = sorted(held, key=lambda key: (-held[key], key))
    found = kept.retriever().nearest(SCOPE, query, ALL)
    assert [one.key for one in found] == expected
    assert [one.score for one in found] == pytest.approx([held[key] for key in expected], abs=1e-5)
    catalog.close()


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("climbing", "Garden/Beds/Beans.md"),  # by its stem
        ("光环", "Sky/土星.md"),  # by pairs of characters
        ("rotting", "Garden/Compost.md"),
        ("Jupiter", "Sky/Map.canvas"),
        ("the compost", "Garden/Compost.md"),
    ],
)
def test_a_word_is_found_as_our_analysis_sees_it(kept: Backend, query: str, first: str) -> None:
    assert paths(kept.retriever().best(SCOPE, terms(query), ALL))[:1] == [first]


def test_a_word_of_no_note_finds_nothing(kept: Backend) -> None:
    assert kept.retriever().best(SCOPE, terms("xylophone"), ALL) == []
    assert kept.retriever().best(SCOPE, [], ALL) == []
    assert kept.retriever().nearest(SCOPE, np.zeros_like(vector(kept, "x")), ALL) == []


SELECTIONS = [
    (Selection(50, folders=("Garden",)), {"Garden/Compost.md", "Garden/Beds/Beans.md"}),
    (
        Selection(50, folders=("Garden/Beds", "Sky")),
        {"Garden/Beds/Beans.md", "Sky/Saturn.md", "Sky/土星.md", "Sky/Map.canvas"},
    ),
    (Selection(50, folders=("Gard",)), set()),
    (Selection(50, folders=("garden",)), set()),
    (Selection(50, paths=("Gardening.md", "No such.md")), {"Gardening.md"}),
    (Selection(50, tags=("area",)), {"Garden/Compost.md", "Garden/Beds/Beans.md"}),
    (Selection(50, tags=("#AREA/garden/", "soil")), {"Garden/Compost.md"}),
    (Selection(50, tags=("gard",)), set()),
    (Selection(50, kinds=("canvas",)), {"Sky/Map.canvas"}),
    (Selection(50, folders=("Sky",), kinds=("note",), tags=("planet",)), {"Sky/Saturn.md"}),
    (Selection(50, note_ids=(1 << 40,)), set()),
]


@pytest.mark.parametrize(("selection", "expected"), SELECTIONS)
def test_a_filter_leaves_the_same_notes_in_every_kind_of_search(
    kept: Backend, selection: Selection, expected: set[str]
) -> None:
    by_meaning, *others = everything(kept, selection)
    assert set(paths(by_meaning)) == expected
    for found in others:
        assert set(paths(found)) == expected


def test_notes_are_chosen_by_their_ids(kept: Backend) -> None:
    catalog = catalog_of(kept)
    ids = {path: catalog.note(path).note_id for path in ("Long.md", "Gardening.md")}  # type: ignore[union-attr]
    catalog.close()
    for found in everything(kept, Selection(50, note_ids=tuple(ids.values()))):
        assert set(paths(found)) == set(ids)


def test_a_scope_without_the_vault_finds_nothing(kept: Backend) -> None:
    for scope in (VaultScope.of([]), VaultScope.of(["another"]), SCOPE.only(["another"])):
        assert everything(kept, ALL, scope) == [[], []]


@pytest.mark.long
def test_an_edit_a_rename_and_a_deletion_are_found_at_once(edited: Backend) -> None:
    vault, retriever = edited.where.vault, edited.retriever()
    edited.where.write("Gardening.md", "# Gardening\n\nA wheelbarrow stands in the shed.\n")
    (vault / "Sky" / "Saturn.md").rename(vault / "Saturn moved.md")
    (vault / "Garden" / "Compost.md").unlink()
    edited.where.write(
        "New.md", "---\ntags: [fresh]\n---\n# New\n\nA trombone that nobody in the house plays.\n"
    )
    edited.follow()
    assert paths(retriever.best(SCOPE, terms("wheelbarrow"), ALL)) == ["Gardening.md"]
    assert retriever.best(SCOPE, terms("spade"), ALL) == []
    assert "Saturn moved.md" in paths(retriever.best(SCOPE, terms("rings"), ALL))
    assert retriever.best(SCOPE, terms("rings"), Selection(folders=("Sky",), kinds=("note",))) == []
    assert retriever.best(SCOPE, terms("compost"), ALL) == []
    assert paths(retriever.nearest(SCOPE, vector(edited, "trombone"), Selection(tags=("fresh",)))) == [
        "New.md"
    ]
    assert "Garden/Compost.md" not in paths(retriever.nearest(SCOPE, vector(edited, "compost"), ALL))
    assert edited.applied_seq() == seq_of(edited)
    assert the_same_as_the_catalog(edited)


@pytest.mark.long
def test_what_is_lost_is_made_again_from_the_catalog_alone(edited: Backend) -> None:
    before = everything(edited, ALL)
    hidden = edited.where.vault.with_name("hidden")
    edited.where.vault.rename(hidden)
    edited.where.vault.mkdir()
    edited.lose()
    assert [[one.key for one in found] for found in everything(edited, ALL)] == [
        [one.key for one in found] for found in before
    ]
    assert edited.applied_seq() == seq_of(edited)
    assert the_same_as_the_catalog(edited)


def catalog_of(of: Backend) -> CatalogReader:
    generation = IndexDir(of.where.index_dir).current()
    assert generation is not None
    return CatalogReader(generation.catalog)


def seq_of(of: Backend) -> int:
    catalog = catalog_of(of)
    catalog.close()
    return catalog.seq


def the_same_as_the_catalog(of: Backend) -> bool:
    """Whether a search that asks for everything finds the chunks of the catalog, each once."""
    catalog = catalog_of(of)
    wanted = sorted(catalog.chunk_keys())
    catalog.close()
    found = of.retriever().nearest(SCOPE, vector(of, "night"), Selection(limit=1000))
    return sorted(one.key for one in found) == wanted
