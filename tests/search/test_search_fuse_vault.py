"""What the fusion does in a vault: function words, foreign languages, the texts of links."""

from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given
from hypothesis import strategies as st
from indexed_vault import Indexed

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import Hit, SearchRequest
from vault_indexer.ports import EmbeddingModel
from vault_indexer.search.terms.words import (
    FOREIGN,
    LACKING,
    lacking_weight,
    language_of,
    language_weight,
    vector_weight,
)

NOTES = {
    "How to do what you do.md": "How to do it: do as you do, how you do it and what to do with it.",
    "Ferment.md": "A crock of cabbage and salt turns sour in two weeks, if it is kept under the brine.",
    "Kitchen.md": (
        "For the winter we make [[Ferment|sauerkraut]], and [[Pantry|keep jars]].\n\n"
        "Another batch of [[Ferment|sauerkraut]] in March."
    ),
    "Shopping.md": "Sauerkraut, bread, apples, and two lemons from the market on Saturday.",
    "Pantry.md": "Shelves of jars in the cool room below the stairs.",
    "Letters.md": "To the council, about the trees in our street and the noise at night.",
    "Weather.md": "Rain on Monday, wind from the west on Tuesday, sun at the end of the week.",
    **{f"Week {n}.md": f"What do I do with week {n}? I do not know what to do with it." for n in range(60)},
}


def hits(opened: Indexed, query: str, **settings: object) -> dict[str, Hit]:
    """The hit of each note, by path. `settings` are those of `search`."""
    _, reader = opened
    searcher = reader.searcher.with_settings(SearchSettings.model_validate(settings))
    with reader.holder.lease() as snapshot:
        return {hit.path: hit for hit in searcher.search(snapshot, SearchRequest(query, by_note=True)).hits}


def test_function_words_do_not_decide(opened: Indexed) -> None:
    found = hits(opened, "what do I do with lemons")
    words = {path: hit.why.keyword.score for path, hit in found.items() if hit.why.keyword}
    assert max(words, key=words.__getitem__) == "Shopping.md"


def test_a_query_of_function_words_alone_still_finds(opened: Indexed) -> None:
    assert next(iter(hits(opened, "how to do"))) == "How to do what you do.md"


def test_a_note_is_found_by_what_links_call_it(opened: Indexed) -> None:
    why = hits(opened, "sauerkraut")["Ferment.md"].why
    assert why.graph is not None
    assert why.graph.via == ("Kitchen.md",)
    assert why.graph.score == pytest.approx(2 / 3)  # two links of two say all of the query: n / (n + 1)
    assert why.keyword is None or "sauerkraut" not in why.keyword.terms


def test_the_link_ranking_can_be_left_out(opened: Indexed) -> None:
    found, without = (hits(opened, "sauerkraut", weights={"graph": graph}) for graph in (0.5, 0))
    assert without["Ferment.md"].why.graph is None
    assert found["Ferment.md"].score > without["Ferment.md"].score


@pytest.mark.parametrize(
    ("query", "counts"), [("rain wind on Tuesday", True), ("la lluvia y el viento de los martes", False)]
)
def test_what_a_chunk_holds_counts_in_a_language_of_the_vault(
    opened: Indexed, query: str, counts: bool
) -> None:
    found = hits(opened, f"{query} rain", weights={"graph": 0})
    assert {why.coverage is not None for hit in found.values() if (why := hit.why.keyword)} == {counts}


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_weight_of_the_vectors_falls_with_what_words_find(less: float, more: float) -> None:
    less, more = sorted((less, more))
    assert 1 + LACKING == vector_weight(0.0) >= vector_weight(less) >= vector_weight(more) >= 1
    assert vector_weight(1) == 1
    assert vector_weight(0.5, lacking=8.0) == 2, "a word in two is nearly all: it falls with the cube"


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_vectors_of_many_languages_count_less_beside_notes_of_other_languages(
    less: float, more: float
) -> None:
    less, more = sorted((less, more))
    many = EmbeddingModel("multilingual", "any", 512)
    assert (
        0 < lacking_weight(many, less) <= lacking_weight(many, more) <= lacking_weight(many, 1.0) == LACKING
    )
    assert lacking_weight(many, 0.0) == LACKING  # then words find nothing
    assert lacking_weight(many, 0.1) < LACKING
    assert lacking_weight(EmbeddingModel("wordllama", "any", 256), less) == LACKING


def test_models_and_languages_count_as_the_golden_says() -> None:
    def trust(provider: str, language: str) -> str:
        weight = language_weight(EmbeddingModel(provider, "any", 8), language)
        return {1.0: "whole", FOREIGN: "foreign"}[weight]

    check_golden(
        Path(__file__).parent / "fixtures" / "trust.md",
        {
            "Trust in a model": of_parts(trust),
            "The language of a query": of_parts(
                lambda text, languages: language_of(text, tuple(languages.split()))
            ),
        },
    )
