"""The ranking by link: by the texts of links, and one link away from hits, as the store gives them."""

from collections.abc import Mapping, Sequence
from math import log2
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.search.rank.link import LinkedNote, match_anchor_text, neighbours_of
from vault_indexer.store import Snapshot
from vault_indexer.text.terms import QueryTerm, TermClass

Texts = Mapping[str, tuple[tuple[str, int, str], ...]]


def matches(texts: Texts, *terms: QueryTerm, language: str = "en") -> list[LinkedNote]:
    graph = SimpleNamespace(texts=lambda languages: {path: texts[path] for path in languages})
    snapshot = cast("Snapshot", SimpleNamespace(graph=graph))
    return match_anchor_text(snapshot, dict.fromkeys(texts, language), terms)


BREAD, OVEN = QueryTerm.plain("bread"), QueryTerm.plain("oven", 3.0)


@pytest.mark.parametrize(("links", "weight"), [(1, 1 / 2), (2, 2 / 3), (9, 9 / 10)])
def test_many_links_with_the_word_weigh_more(links: int, weight: float) -> None:
    assert matches({"a.md": (("Bread", links, "x.md"),)}, BREAD) == [LinkedNote("a.md", weight, ("x.md",))]


def test_links_with_one_word_are_counted_together() -> None:
    texts = (("my bread", 1, "x.md"), ("bread of rye", 2, "y.md"), ("cake", 5, "z.md"))
    assert matches({"a.md": texts}, BREAD) == [LinkedNote("a.md", 3 / 4, ("x.md", "y.md"))]


def test_each_word_counts_by_its_weight() -> None:
    texts: Texts = {
        "bread.md": (("bread", 1, "x.md"),),
        "oven.md": (("oven", 1, "x.md"),),
        "both.md": (("bread", 1, "x.md"), ("oven", 3, "y.md")),
        "none.md": (("cake", 1, "x.md"),),
    }
    assert matches(texts, BREAD, OVEN) == [
        LinkedNote("both.md", (1 / 2 + 3 * 3 / 4) / 4, ("x.md", "y.md")),
        LinkedNote("oven.md", 3 / 8, ("x.md",)),
        LinkedNote("bread.md", 1 / 8, ("x.md",)),
    ]


def test_equal_notes_are_in_the_order_of_their_paths() -> None:
    texts = dict.fromkeys(("b.md", "c.md", "a.md"), (("bread", 1, "x.md"),))
    assert [one.path for one in matches(texts, BREAD)] == ["a.md", "b.md", "c.md"]


def test_at_most_three_notes_are_named_each_once() -> None:
    texts = tuple((f"bread {name}", 1, f"{name}.md") for name in "abacd")
    assert matches({"n.md": texts}, BREAD)[0].via == ("a.md", "b.md", "c.md")


def test_of_the_forms_of_a_word_the_one_in_most_links_counts() -> None:
    forms = QueryTerm("bread", (TermClass("bread"), TermClass("roll")))
    texts = (("bread", 1, "x.md"), ("a roll", 2, "y.md"))
    assert matches({"a.md": texts}, forms) == [LinkedNote("a.md", 2 / 3, ("y.md",))]


def test_a_query_without_weight_finds_nothing() -> None:
    texts: Texts = {"a.md": (("bread", 1, "x.md"),)}
    assert matches(texts) == []
    assert matches(texts, QueryTerm.plain("bread", 0.0)) == []
    assert matches({}, BREAD) == []


LINKED = {"a": ("x", "y"), "b": ("y", "hub"), "c": ("z",)}
DEGREES = {"x": 2, "y": 2, "z": 2, "hub": 62}


def neighbours(
    *seeds: str, linked: Mapping[str, Sequence[str]] = LINKED, degrees: Mapping[str, int] = DEGREES
) -> list[LinkedNote]:
    graph = SimpleNamespace(neighbours=lambda _: linked, degrees=lambda _: degrees)
    return neighbours_of(cast("Snapshot", SimpleNamespace(graph=graph)), seeds)


def test_a_neighbour_weighs_by_the_ranks_of_its_hits_and_less_as_a_hub() -> None:
    assert neighbours("a", "b", "unlinked") == [
        LinkedNote("y", (1 / 2 + 1 / 3) / 2, ("a", "b")),
        LinkedNote("x", 1 / 4, ("a",)),
        LinkedNote("hub", 1 / 3 / 6, ("b",)),
    ]
    assert neighbours("b", "a")[0].via == ("b", "a"), "the strongest hit first"
    assert neighbours("c", degrees={}) == [LinkedNote("z", 1 / 2 / log2(2), ("c",))]


def test_equal_neighbours_are_in_the_order_of_their_paths_and_sixty_at_most() -> None:
    names = [f"{number:02}" for number in range(70)]
    found = neighbours("a", linked={"a": names[::-1]}, degrees={})
    assert [one.path for one in found] == names[:60]
    assert neighbours() == []
