"""Long lists in parts: all of them, in order, of the kind that the list is."""

import pytest

from vault_indexer.system import batches


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([], []),
        ([1], [[1]]),
        ([1, 2, 3, 4], [[1, 2], [3, 4]]),
        ((1, 2, 3), [(1, 2), (3,)]),
        ("abc", ["ab", "c"]),
    ],
)
def test_at_most_so_many_at_a_time(values: list[int], parts: list[list[int]]) -> None:
    assert list(batches(values, 2)) == parts
