"""Communities of notes: equal links give equal answers; two groups with one link between them stay two."""

from __future__ import annotations

from itertools import combinations

from vault_indexer.store.graph import communities

GROUPS = ([f"a{number}" for number in range(5)], [f"b{number}" for number in range(4)])
PAIRS = [(one, other, 1) for group in GROUPS for one, other in combinations(group, 2)] + [("a0", "b0", 1)]


def test_groups_that_link_among_themselves_are_communities() -> None:
    assert communities(PAIRS) == list(GROUPS)


def test_the_answer_does_not_depend_on_the_run() -> None:
    assert communities(PAIRS) == communities(PAIRS)


def test_links_in_both_directions_count_together() -> None:
    one_way = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1)]
    back = [("b", "a", 9), ("d", "c", 9)]
    assert communities([*one_way, *back]) == [["a", "b"], ["c", "d"]]


def test_without_links_there_are_none() -> None:
    assert communities([]) == []
