"""What a question to the derived indices may ask, and in which order an answer stands."""

import pytest

from vault_gateway.milvus.retrieval import MAX_LIMIT, FoundChunk, Selection, VaultScope, in_order, tags_above
from vault_indexer.errors import UsageError


def test_a_scope_names_each_vault_once_in_order() -> None:
    scope = VaultScope.of(["b", "a", "b"])
    assert scope.vaults == ("a", "b")
    assert scope.only(["c", "b"]).vaults == ("b",)
    assert scope.only([]).vaults == ()
    with pytest.raises(TypeError, match="a list of vaults"):
        VaultScope.of("ab")


@pytest.mark.parametrize("limit", [1, MAX_LIMIT])
def test_a_limit_that_can_be_answered(limit: int) -> None:
    assert Selection(limit=limit).limit == limit


@pytest.mark.parametrize("limit", [-1, 0, MAX_LIMIT + 1])
def test_a_limit_that_nobody_can_answer_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match=f"limit = {limit}: 1 to 1000"):
        Selection(limit=limit)


def test_a_selection_that_says_nothing_leaves_ten_of_everything() -> None:
    assert Selection() == Selection(10, (), (), (), (), ())
    assert Selection(tags=("Area/Green", "#no")).folded_tags[0] == "area/green"


def test_the_best_come_first_and_equal_ones_by_vault_and_key() -> None:
    places = [("b", 1, 0.5), ("a", 2, 0.5), ("a", 1, 0.5), ("c", 9, 0.9), ("a", 0, 0.1)]
    found = [FoundChunk(vault, key, 1, "n.md", score) for vault, key, score in places]
    assert [(one.vault, one.key) for one in in_order(found)] == [
        ("c", 9),
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("a", 0),
    ]


def test_a_tag_comes_with_those_above_it() -> None:
    assert tags_above(["a/b/c", "d", "a/x", "d"]) == ["a", "a/b", "a/b/c", "d", "a/x"]
    assert tags_above([]) == []
