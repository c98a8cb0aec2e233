"""Sums over lists of postings, against the obvious way with dictionaries."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.store.keywords.postings import MOST_SUMMED, Sparse, combine, sum_at, sums_in_order
from vault_indexer.store.keywords.scorer import (
    RoundedScores,
    best,
    inverse_document_frequency,
    length_norms,
    limit_for,
    may_be_best,
    saturate,
)

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
@pytest.mark.parametrize(("operation", "of_all"), [(np.add, sum), (np.maximum, max)])
@given(given=lists)
def test_equal_positions_are_taken_together(
    size: int, operation: np.ufunc, of_all: Callable[[Iterable[int]], int], given: Lists
) -> None:
    wanted = {at: of_all(one.get(at, 0) for one in given) for one in given for at in one}
    found = combine([sparse(one) for one in given], size, operation)
    assert as_dict(found) == wanted
    assert found.positions.tolist() == sorted(wanted)


@given(
    held=st.dictionaries(st.integers(0, SIZE - 1), st.integers(1, 50)), size=st.sampled_from([SIZE, 9 * SIZE])
)
def test_values_are_looked_up_and_added_whatever_form_they_have(held: dict[int, int], size: int) -> None:
    for one in (sparse(held), sparse(held).ready_to_add(size)):
        assert one.at(np.arange(SIZE)).tolist() == [held.get(position, 0) for position in range(SIZE)]
        assert one.holds(np.arange(SIZE)).tolist() == [position in held for position in range(SIZE)]
        assert one.is_empty == (not held)
        totals = np.ones(size, np.float32)
        assert one.add_to(totals, 2.0) == 0.0
        assert totals.tolist() == [1 + 2 * held.get(position, 0) for position in range(size)]


scores = st.floats(0.125, 40, width=32)
many_lists = st.lists(st.dictionaries(st.integers(0, SIZE - 1), scores), max_size=MOST_SUMMED)


@pytest.mark.parametrize("size", [SIZE, 100 * SIZE])
@given(given=many_lists)
def test_sums_at_some_positions_are_to_the_last_bit_those_of_whole_lists(
    size: int, given: list[dict[int, float]]
) -> None:
    parts = [
        Sparse(np.array(sorted(one), np.int32), np.array([one[at] for at in sorted(one)], np.float32))
        for one in given
    ]
    everywhere = np.arange(SIZE)
    in_order = sums_in_order([len(part.positions) for part in parts], size)
    found = sum_at([part.at(everywhere) for part in parts], SIZE, in_order=in_order)
    assert found.tobytes() == combine(parts, size, np.add).at(everywhere).tobytes()


@given(
    words=st.lists(
        st.tuples(st.lists(scores | st.just(0.0), min_size=SIZE, max_size=SIZE), st.floats(0.01, 1)),
        min_size=1,
        max_size=5,
    ),
    k=st.integers(1, SIZE),
)
def test_whoever_is_among_the_best_is_still_there_after_rounding(
    words: list[tuple[list[float], float]], k: int
) -> None:
    exact, sums = np.zeros(SIZE, np.float32), np.zeros(SIZE, np.float32)
    too_high = 0.0
    for own, weight in words:
        by_position = np.array(own, np.float32)
        if by_position.any():
            rounded = RoundedScores.of(by_position, (True,))
            assert rounded.holds(np.arange(SIZE)).tolist() == (by_position > 0).tolist()
            exact += by_position * np.float32(weight)
            too_high += rounded.add_to(sums, weight)
    likely = may_be_best(sums, k, too_high)
    assert likely.tolist() == sorted(set(likely.tolist()))
    threshold = np.sort(exact)[-k]
    assert set(np.flatnonzero((exact >= threshold) & (exact > 0)).tolist()) <= set(likely.tolist())
    assert not (exact[likely] == 0).any()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 30.0]), max_size=30), st.integers(1, 9))
def test_the_best_are_those_of_a_sort(scores: list[float], k: int) -> None:
    keys = np.arange(len(scores), dtype=np.int64)[::-1].copy()
    order = sorted((-score, key) for score, key in zip(scores, keys.tolist(), strict=True) if score)
    assert best(np.array(scores, np.float32), keys, k).keys.tolist() == [key for _, key in order[:k]]


@pytest.mark.parametrize(
    ("documents", "times", "limit"),
    [(0, 64, 64), (100_000, 64, 64), (150_000, 64, 96), (400_000, 64, 256), (900_000, 64, 256)],
)
def test_a_cache_grows_with_the_documents_to_four_times(documents: int, times: int, limit: int) -> None:
    assert limit_for(times, documents) == limit


def test_what_a_word_is_worth_by_hand() -> None:
    assert inverse_document_frequency(3, 2) == 1.0
    assert inverse_document_frequency(8, 1) == pytest.approx(1 + 2 * 0.6931471805599453)
    norms = length_norms(np.array([0, 10, 20], np.float32), 10.0, 0.75, 1.2)
    assert norms.tolist() == pytest.approx([0.3, 1.2, 2.1])
    assert length_norms(np.array([2], np.float32), 0.0, 0.5, 1.0).tolist() == pytest.approx([1.5])
    assert saturate(np.array([1, 2], np.float32), np.array([1.2, 0.2], np.float32), 1.2).tolist() == (
        pytest.approx([1.0, 2.0])
    )
