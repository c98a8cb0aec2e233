"""Filters over a small vault: which notes they leave, and that every retriever keeps to them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import notes_left
from small_vault import NOTES, Ask

from vault_indexer.errors import QueryError
from vault_indexer.search.searcher import IndexReader
from vault_indexer.service import VaultService

Indexed = tuple[VaultService, IndexReader]
NOW = datetime(2024, 6, 1, tzinfo=UTC)
COMPOST, TOMATOES = "Garden/Compost.md", "Garden/Tomatoes.md"
TELESCOPE, ROOF = "Sky/Telescope.md", "Sky/Roof.md"


def left(indexed: Indexed, query: str) -> set[str]:
    return notes_left(indexed[1], query)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("tag:area", {COMPOST, TOMATOES, TELESCOPE}),
        ("tag:#AREA/garden", {COMPOST, TOMATOES}),
        ("tag:are", set()),
        ("tag:(#soil OR #sky)", {COMPOST, TELESCOPE}),
        ("tag:#area -tag:#area/garden", {TELESCOPE}),
        ("path:garden/", {COMPOST, TOMATOES}),
        ('path:"daily notes"', {"Daily notes/2024-03-05.md"}),
        ("path:jardin", {"es/Jardín.md"}),
        ("file:garden", set()),
        ("file:検", {"ja/検索.md"}),
        ("file:(compost OR roof)", {COMPOST, ROOF}),
        ("path:(garden -compost)", {TOMATOES}),
        ("heading:materials", {COMPOST}),
        ("heading:heap", set()),
        ("section:(heap cardboard)", set()),
        ("section:(worms cardboard)", {COMPOST}),
        ("section:(heap -month)", {COMPOST, TOMATOES}),
        ("line:(mirror galaxies)", {TELESCOPE}),
        ("line:(mirror collimation)", set()),
        ("block:(moon monday)", {ROOF}),
        ("block:(fork leaves)", set()),
        ("block:(neighbour manure)", {COMPOST}),
        ('task:""', {COMPOST}),
        ("task-todo:(horse manure)", {COMPOST}),
        ("task-todo:leaves", set()),
        ("task-done:leaves", {COMPOST}),
        ("[rating]", {COMPOST, TOMATOES, TELESCOPE}),
        ("[Rating:>3]", {COMPOST, TELESCOPE}),
        ("[rating:<=2 OR 10]", {TOMATOES, TELESCOPE}),
        ("[date:>=2024-04]", {TOMATOES}),
        ("[date:<2024-05-20]", {COMPOST}),
        ("[status:published]", {TOMATOES}),
        ("[status:draft OR evergreen]", {COMPOST, TOMATOES}),
        ('[aliases:"humus"]', {COMPOST}),
        ("[due:null]", {TOMATOES}),
        ("[nothing]", set()),
        ("after:2024-05-20 before:2024-05-21", {TOMATOES}),
        ("after:2w", {TOMATOES}),
        ("after:2024 before:2024-05", {COMPOST}),
        ("after:2024-05-20 before:2999-01-01", {TOMATOES}),
        ("after:2999", set()),
        ("before:0001-01-01", set()),
        ("after:1000y after:2024-05-20 before:2024-05-21", {TOMATOES}),
        ("after:2024-05-20 before:9999-12-31T23:59-05:00", {TOMATOES}),
        ("lang:ru", {"ru/Книги.md", "ru/Погода.md"}),
        ("lang:ja OR lang:zh", {"ja/検索.md", "zh/茶.md"}),
        ("links-to:Tomatoes", {COMPOST}),
        ("linked-from:garden/tomatoes.md", {COMPOST}),
        ('"to be or not to be"', {TOMATOES}),
        ('"not to be is not a question"', {TOMATOES}),
        ('"be to or"', set()),
        ('"humus"', {COMPOST}),
        ('"全文検索"', {"ja/検索.md"}),
        ('"каждую книгу"', {"ru/Книги.md"}),
        ('"el cafe y el jamon"', {"es/Cocina.md"}),
        ("heap OR telescope", {COMPOST, TOMATOES, TELESCOPE, ROOF}),
        ("(heap tomatoes) OR blanket", {COMPOST, TOMATOES, ROOF}),
        ("tag:area -heap", {TELESCOPE}),
        ("-heap -telescope -lang:ru path:/", {path for path in NOTES if path[0] in "ezjD"}),
        ("jamón OR 冰箱", {"es/Cocina.md", "zh/茶.md"}),
        ("-(tag:area OR lang:es OR lang:ru OR path:j OR path:z) ", {ROOF, "Daily notes/2024-03-05.md"}),
    ],
)
def test_what_a_filter_leaves(indexed: Indexed, query: str, paths: set[str]) -> None:
    assert left(indexed, query) == paths


def test_a_place_leaves_only_the_chunks_that_touch_it(ask: Ask) -> None:
    hits = ask("task-done:leaves").results
    assert {hit.path for hit in hits} == {COMPOST}
    assert all("collect leaves" in hit.content for hit in hits)


@pytest.mark.parametrize("query", ["links-to:Nowhere", "garden linked-from:Nowhere"])
def test_a_note_that_is_not_there_is_named(ask: Ask, query: str) -> None:
    with pytest.raises(QueryError, match="no note named 'Nowhere'") as caught:
        ask(query)
    assert caught.value.column == query.index("link") + 1


@pytest.mark.parametrize("wanted", ["tag:area", "path:Sky/", "lang:ru", '"galaxies"', "-heap", "[rating:>3]"])
def test_no_retriever_leaves_the_filter(indexed: Indexed, ask: Ask, wanted: str) -> None:
    """The words fit another note best: it must not come, and what is left must not be lost."""
    paths = left(indexed, wanted)
    answer = ask(f"warm stars in the kitchen {wanted}", limit=50)
    assert {hit.path for hit in answer.results} == paths
    assert all(hit.why.filters == (wanted,) for hit in answer.results)
    assert any(hit.why.vector for hit in answer.results)


def test_filters_alone_list_the_newest_first(ask: Ask) -> None:
    answer = ask("tag:area")
    assert [hit.path for hit in answer.results] == [TOMATOES, COMPOST, TELESCOPE]
    assert {hit.score for hit in answer.results} == {1.0}
    assert any("changed last come first" in notice for notice in answer.notices)


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("heap [WIP]", ""),
        ("tag:#arae", "did you mean tag:#area?"),
        ("heap tag:gardn", "did you mean tag:#area/garden?"),
        ("tag:area/gardens", "did you mean tag:#area/garden?"),
        ("path:Gardne/", 'did you mean path:"Garden"?'),
        ('path:"dailly notes"', 'did you mean path:"Daily notes"?'),
        ("[Ratings:>3]", "did you mean [rating]?"),
        ("tag:area [due:2024-01-01]", ""),  # both names are right
        ("-tag:area tag:area", ""),
    ],
)
def test_a_filter_that_leaves_nothing_says_so_with_the_nearest_name(
    ask: Ask, query: str, advice: str
) -> None:
    answer = ask(query)
    assert not answer.results
    filters = query.removeprefix("heap ")
    wanted = advice or "to search for it as text, put it in quotes"
    assert answer.notices[0].startswith(f"no note matches the filter {filters}; ")
    assert answer.notices[0].endswith(f"; {wanted}")
    assert "did you mean" not in ask(query, as_you_type=True).notices[0]


CONDITIONS = st.sampled_from(
    [
        *("tag:area", "path:Sky", "heap", '"horse manure"', "lang:ru", "[rating:>3]", "line:(the heap)"),
        "task:leaves",
    ]
)


@given(CONDITIONS, CONDITIONS, CONDITIONS)
def test_filters_obey_the_laws_of_sets(indexed: Indexed, a: str, b: str, c: str) -> None:
    everything = set(NOTES)
    sets = {one: left(indexed, f"({one} OR {one})") for one in (a, b, c)}
    assert left(indexed, f"({a} OR {b}) ({c} OR {c})") == (sets[a] | sets[b]) & sets[c]
    assert left(indexed, f"-({a} OR {b})") == everything - sets[a] - sets[b]
    assert left(indexed, f"({a} {b}) OR {c}") == (sets[a] & sets[b]) | sets[c]
    assert left(indexed, f"-(-({a} OR {b}) OR {c})") == (sets[a] | sets[b]) - sets[c]
