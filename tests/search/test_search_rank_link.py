"""The ranking by link text, over texts of links as the store gives them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.search.rank.link import AnchorMatch, match_anchor_text
from vault_indexer.store import Snapshot
from vault_indexer.text.terms import QueryTerm, TermClass

Texts = Mapping[str, tuple[tuple[str, int, str], ...]]


def matches(texts: Texts, *terms: QueryTerm, language: str = "en") -> list[AnchorMatch]:
    graph = SimpleNamespace(texts=lambda languages: {path: texts[path] for path in languages})
    snapshot = cast("Snapshot", SimpleNamespace(graph=graph))
    return match_anchor_text(snapshot, dict.fromkeys(texts, language), terms)


BREAD, OVEN = QueryTerm.plain("bread"), QueryTerm.plain("oven", 3.0)


@pytest.mark.parametrize(("links", "weight"), [(1, 1 / 2), (2, 2 / 3), (9, 9 / 10)])
def test_many_links_with_the_word_weigh_more(links: int, weight: float) -> None:
    assert matches({"a.md": (("Bread", links, "x.md"),)}, BREAD) == [AnchorMatch("a.md", weight, ("x.md",))]


def test_links_with_one_word_are_counted_together() -> None:
    texts = (("my bread", 1, "x.md"), ("bread of rye", 2, "y.md"), ("cake", 5, "z.md"))
    assert matches({"a.md": texts}, BREAD) == [AnchorMatch("a.md", 3 / 4, ("x.md", "y.md"))]


def test_each_word_counts_by_its_weight() -> None:
    texts: Texts = {
        "bread.md": (("bread", 1, "x.md"),),
        "oven.md": (("oven", 1, "x.md"),),
        "both.md": (("bread", 1, "x.md"), ("oven", 3, "y.md")),
        "none.md": (("cake", 1, "x.md"),),
    }
    assert matches(texts, BREAD, OVEN) == [
        AnchorMatch("both.md", (1 / 2 + 3 * 3 / 4) / 4, ("x.md", "y.md")),
        AnchorMatch("oven.md", 3 / 8, ("x.md",)),
        AnchorMatch("bread.md", 1 / 8, ("x.md",)),
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
    assert matches({"a.md": texts}, forms) == [AnchorMatch("a.md", 2 / 3, ("y.md",))]


def test_a_query_without_weight_finds_nothing() -> None:
    texts: Texts = {"a.md": (("bread", 1, "x.md"),)}
    assert matches(texts) == []
    assert matches(texts, QueryTerm.plain("bread", 0.0)) == []
    assert matches({}, BREAD) == []
