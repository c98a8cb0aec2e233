"""The vector snapshot against a plain numpy search, through any history of edits."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.vectors import index as vectors
from vault_indexer.system.huge_pages import back_by_huge_pages

DIMENSION = 8


def packed(seed: int) -> bytes:
    row = np.random.default_rng(seed).normal(size=DIMENSION)
    return (row / np.linalg.norm(row)).astype(np.float16).tobytes()


def expected(held: dict[int, bytes], query: np.ndarray, k: int) -> list[int]:
    scores = {
        key: float(np.frombuffer(row, np.float16).astype(np.float32) @ query) for key, row in held.items()
    }
    return sorted(scores, key=lambda key: (-scores[key], key))[:k]


edits = st.lists(
    st.tuples(st.sets(st.integers(0, 30), max_size=6), st.sets(st.integers(0, 30), max_size=6)), max_size=5
)


@given(start=st.sets(st.integers(0, 30), max_size=20), history=edits, k=st.integers(1, 12))
def test_a_snapshot_finds_what_a_full_comparison_finds(
    start: set[int], history: list[tuple[set[int], set[int]]], k: int
) -> None:
    held = {key: packed(key) for key in sorted(start)}
    snapshot = vectors.build_snapshot(1, DIMENSION, list(held.items()))
    snapshot.look.make()
    fresh = 100
    for seq, (removed, added) in enumerate(history, start=2):
        gone = [key for key in removed if key in held]
        came = {fresh + key: packed(fresh + key) for key in added}
        fresh += 100
        snapshot = snapshot.with_changes(seq, gone, list(came.items()))
        held = {key: row for key, row in {**held, **came}.items() if key not in gone}
    query = np.frombuffer(packed(7), np.float16).astype(np.float32)
    assert snapshot.search(query, k)[0].tolist() == expected(held, query, k)
    assert snapshot.live_keys() == set(held)
    allowed = np.array([key for key in sorted(held) if key % 2], np.int64)
    odd = {key: row for key, row in held.items() if key % 2}
    assert snapshot.search(query, k, allowed)[0].tolist() == expected(odd, query, k)


@given(
    rows=st.integers(1, 400),
    spread=st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
    seed=st.integers(0, 99),
    k=st.integers(1, 60),
    uneven=st.sampled_from([0.0, 0.01, 0.5]),
)
def test_what_the_first_look_leaves_out_could_not_be_found(
    rows: int, spread: float, seed: int, k: int, uneven: float
) -> None:
    """Also where all vectors are nearly the same, and rounding tells nothing: then it says that it cannot.
    So it does where they differ in length, and the nearest are not those of the largest product."""
    dice = np.random.default_rng(seed)
    matrix = dice.normal(size=DIMENSION) + spread * dice.normal(size=(rows, DIMENSION))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix *= 1.0 - uneven * dice.random(size=(rows, 1))
    held = {key: row.astype(np.float16).tobytes() for key, row in enumerate(matrix)}
    made = vectors.build_snapshot(1, DIMENSION, list(held.items()))
    made.look.make()
    query = np.frombuffer(packed(seed), np.float16).astype(np.float32)
    exact = np.array([np.frombuffer(row, np.float16).astype(np.float64) @ query for row in held.values()])
    least = np.sort(exact)[::-1][:k][-1] - 1e-6  # what float32 may take for equal
    assert made.look.screen is not None
    found = made.look.screen.search(query, k)
    assert found is not None or rows > k
    if found is not None:
        assert set(np.flatnonzero(exact > least + 2e-6)) <= set(found[0].tolist())
    keys = made.search(query, k)[0].tolist()
    assert len(keys) == len(set(keys)) == min(k, rows)
    assert (exact[keys] >= least).all()


def test_a_first_look_over_many_vectors_is_made_beside_the_searches_and_mostly_proves_what_it_says() -> None:
    dice = np.random.default_rng(3)
    matrix = dice.normal(size=(12_000, 64)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    rows = [(key, row.astype(np.float16).tobytes()) for key, row in enumerate(matrix)]
    made = vectors.build_snapshot(1, 64, rows)
    before = [made.search(query, 10)[0].tolist() for query in matrix[:20]]
    for thread in threading.enumerate():
        if thread.name == "indexer-screen":
            thread.join(180)
    assert made.look.screen is not None
    proved = [made.look.screen.search(query, 10) is not None for query in matrix[:20]]
    assert [made.search(query, 10)[0].tolist() for query in matrix[:20]] == before
    assert sum(proved) > 15


def test_an_edit_leaves_the_older_snapshot_as_it_was() -> None:
    before = vectors.build_snapshot(1, DIMENSION, [(1, packed(1)), (2, packed(2))])
    query = np.frombuffer(packed(1), np.float16).astype(np.float32)
    after = before.with_changes(2, [1], [(3, packed(1))])
    assert before.search(query, 1)[0].tolist() == [1]
    assert after.search(query, 1)[0].tolist() == [3]


def test_a_saved_base_comes_back_with_its_seq(tmp_path: Path) -> None:
    made = vectors.build_snapshot(7, DIMENSION, [(key, packed(key)) for key in range(1, 50)])
    vectors.save_snapshot(made, tmp_path / "v.faiss")
    loaded = vectors.load_snapshot(tmp_path / "v.faiss")
    assert (loaded.seq, loaded.live_keys()) == (7, made.live_keys())


def test_vectors_of_zeros_are_left_out() -> None:
    made = vectors.build_snapshot(1, DIMENSION, [(1, bytes(2 * DIMENSION)), (2, packed(2))])
    assert made.live_keys() == {2}


@pytest.mark.parametrize("place", [0, 30, 200, 500, -1])
def test_a_flipped_bit_anywhere_is_noticed(tmp_path: Path, place: int) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(
        vectors.build_snapshot(1, DIMENSION, [(key, packed(key)) for key in range(1, 50)]), file
    )
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(bytes(data))
    with pytest.raises(IndexUnusableError, match="vector index"):
        vectors.load_snapshot(file)


@pytest.mark.parametrize("size", [0, 10, 300])
def test_a_cut_file_is_noticed(tmp_path: Path, size: int) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(
        vectors.build_snapshot(1, DIMENSION, [(key, packed(key)) for key in range(1, 50)]), file
    )
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(IndexUnusableError, match="vector index"):
        vectors.load_snapshot(file)


def test_large_pages_are_only_advice() -> None:
    held = np.ones(6 << 20, np.uint8)
    address = held.ctypes.data
    assert not back_by_huge_pages(address, 1000)  # no whole page lies in it
    back_by_huge_pages(address, held.nbytes)
    assert held.sum() == held.size
