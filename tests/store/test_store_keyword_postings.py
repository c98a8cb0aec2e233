"""Sums over lists of postings, against the obvious way with dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords.postings import Sparse, at, combine

Lists = list[dict[int, int]]

SIZE = 60
lists = st.lists(st.dictionaries(st.integers(0, SIZE - 1), st.integers(1, 50)), max_size=5)


def sparse(values: dict[int, int]) -> Sparse:
    positions = sorted(values)
    return Sparse(np.array(positions, np.int32), np.array([values[at] for at in positions], np.float32))


def as_dict(found: Sparse) -> dict[int, float]:
    return dict(zip(found.positions.tolist(), found.values.tolist(), strict=True))


# With so few documents long lists are summed in an array, with so many they are merged by sorting.
@pytest.mark.parametrize("size", [SIZE, 100 * SIZE])
@given(given=lists)
def test_equal_positions_are_taken_together(size: int, given: Lists) -> None:
    wanted = {at: sum(one.get(at, 0) for one in given) for one in given for at in one}
    found = combine([sparse(one) for one in given], size, np.add)
    assert as_dict(found) == wanted
    assert found.positions.tolist() == sorted(wanted)


@pytest.mark.parametrize("size", [SIZE, 100 * SIZE])
@given(given=lists)
def test_the_largest_value_stays(size: int, given: Lists) -> None:
    wanted = {at: max(one.get(at, 0) for one in given) for one in given for at in one}
    assert as_dict(combine([sparse(one) for one in given], size, np.maximum)) == wanted


@given(
    held=st.dictionaries(st.integers(0, SIZE - 1), st.integers(1, 50)), size=st.sampled_from([SIZE, 9 * SIZE])
)
def test_values_are_looked_up_and_added_whatever_form_they_have(held: dict[int, int], size: int) -> None:
    one = sparse(held)
    assert at(one, np.arange(SIZE)).tolist() == [held.get(position, 0) for position in range(SIZE)]
    totals = np.ones(size, np.float32)
    one.ready_to_add(size).add_to(totals, np.float32(2))
    assert totals.tolist() == [1 + 2 * held.get(position, 0) for position in range(size)]
