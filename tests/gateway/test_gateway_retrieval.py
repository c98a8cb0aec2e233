"""What a question to the derived indices may ask, and in which order an answer stands."""

import pytest

from vault_gateway.milvus.retrieval import (
    MAX_LIMIT,
    FoundChunk,
    Selection,
    VaultScope,
    in_order,
    selection_parts,
    tags_above,
)
from vault_indexer.errors import UsageError


def test_a_scope_names_each_vault_once_in_order() -> None:
    assert VaultScope.of(["b", "a", "b"]).vaults == ("a", "b")
    with pytest.raises(TypeError, match="a list of vaults"):
        VaultScope.of("ab")


def test_a_selection_leaves_ten_of_everything_unless_it_says_something_that_can_be_answered() -> None:
    assert Selection() == Selection(10, (), (), (), (), ())
    assert selection_parts(Selection(tags=("Area/Green",))) == ['array_contains(tags, "area/green")']
    assert [Selection(limit=limit).limit for limit in (1, MAX_LIMIT)] == [1, MAX_LIMIT]
    for limit in (-1, 0, MAX_LIMIT + 1):
        with pytest.raises(UsageError, match=f"limit = {limit}: 1 to 1000"):
            Selection(limit=limit)


def test_the_best_come_first_and_equal_ones_by_vault_and_key() -> None:
    places = [("b", 1, 0.5), ("a", 2, 0.5), ("a", 1, 0.5), ("c", 9, 0.9), ("a", 0, 0.1)]
    found = [FoundChunk(vault, key, 1, "n.md", score) for vault, key, score in places]
    ordered = [(one.vault, one.key) for one in in_order(found)]
    assert ordered == [("c", 9), ("a", 1), ("a", 2), ("b", 1), ("a", 0)]


def test_a_tag_comes_with_those_above_it() -> None:
    assert tags_above(["a/b/c", "d", "a/x", "d"]) == ["a", "a/b", "a/b/c", "d", "a/x"]
    assert tags_above([]) == []
