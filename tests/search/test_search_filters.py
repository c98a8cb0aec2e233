"""Filters over a small vault: which notes they leave, and that every retriever keeps to them."""

from pathlib import Path

import pytest
from golden_cases import check_golden
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import Indexed, notes_left
from small_vault import NOTES, Ask

from vault_indexer.errors import QueryError

COMPOST, TOMATOES = "Garden/Compost.md", "Garden/Tomatoes.md"
TELESCOPE, ROOF = "Sky/Telescope.md", "Sky/Roof.md"


def left(indexed: Indexed, query: str) -> set[str]:
    return notes_left(indexed[1], query)


def test_a_filter_leaves_what_the_golden_says(indexed: Indexed, ask: Ask) -> None:
    def said(query: str) -> str:
        answer = ask(query)
        assert not answer.results
        assert "did you mean" not in ask(query, as_you_type=True).notices[0]
        return answer.notices[0]

    check_golden(
        Path(__file__).parent / "fixtures" / "filters.md",
        {
            "What a filter leaves": lambda query: ", ".join(sorted(left(indexed, query))),
            "Nothing is left": said,
        },
    )


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
