"""Notes one link away from hits, over links as the store gives them."""

from collections.abc import Mapping, Sequence
from math import log2
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.model import Correction
from vault_indexer.search.rank.link import Neighbour, neighbours_of
from vault_indexer.search.terms.compounds import as_spelt, with_corrections
from vault_indexer.store import Snapshot
from vault_indexer.text.terms import QueryTerm

LINKED = {"a": ("x", "y"), "b": ("y", "hub"), "c": ("z",)}
DEGREES = {"x": 2, "y": 2, "z": 2, "hub": 62}


def neighbours(
    *seeds: str, linked: Mapping[str, Sequence[str]] = LINKED, degrees: Mapping[str, int] = DEGREES
) -> list[Neighbour]:
    graph = SimpleNamespace(neighbours=lambda _: linked, degrees=lambda _: degrees)
    return neighbours_of(cast("Snapshot", SimpleNamespace(graph=graph)), seeds)


def test_a_neighbour_weighs_by_the_ranks_of_its_hits_and_less_as_a_hub() -> None:
    assert neighbours("a", "b", "unlinked") == [
        Neighbour("y", (1 / 2 + 1 / 3) / 2, ("a", "b")),
        Neighbour("x", 1 / 4, ("a",)),
        Neighbour("hub", 1 / 3 / 6, ("b",)),
    ]
    assert neighbours("b", "a")[0].via == ("b", "a"), "the strongest hit first"
    assert neighbours("c", degrees={}) == [Neighbour("z", 1 / 2 / log2(2), ("c",))]


def test_equal_neighbours_are_in_the_order_of_their_paths_and_sixty_at_most() -> None:
    names = [f"{number:02}" for number in range(70)]
    found = neighbours("a", linked={"a": names[::-1]}, degrees={})
    assert [one.path for one in found] == names[:60]
    assert neighbours() == []


def test_a_likely_spelling_takes_most_of_the_weight_of_its_word() -> None:
    terms = [QueryTerm.plain("bread"), QueryTerm.plain("ofen", 0.5)]
    first, written, likely = with_corrections(["en"], terms, [Correction("ofen", "oven")])
    assert first == terms[0]
    assert [written.word, likely.word] == ["ofen", "oven"]
    assert [written.weight, likely.weight] == pytest.approx([0.5 * 0.2, 0.5 * 0.8])
    assert list(with_corrections(["en"], terms, [])) == terms


def test_a_likely_spelling_stands_in_place_of_whole_words() -> None:
    corrections = [Correction("ofen", "oven"), Correction("c+", "c")]
    assert as_spelt("ofen often ofens (ofen) c+ c++", corrections) == "oven often ofens (oven) c c+"
