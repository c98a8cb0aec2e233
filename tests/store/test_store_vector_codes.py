"""A base of very many vectors: built from a stream, searched by codes, held to what an exact search finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vault_indexer.errors import IndexUnusableError
from vault_indexer.store.vectors import index as vectors
from vault_indexer.store.vectors.index import VectorSnapshot
from vault_indexer.store.vectors.rule import RULE, IndexRule

DIMENSION = 64
COUNT = 8_000
QUERIES = 40
BY_CODES = IndexRule(exact_up_to=1_000)
EXACT = IndexRule(exact_up_to=1 << 40)

Row = tuple[int, bytes]


class OnePass:
    """Rows that can be had once, as those of a database cursor; it has no length."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.passes = 0

    def __iter__(self) -> Iterator[Row]:
        self.passes += 1
        yield from self._rows


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    """Vectors in clusters, as those of notes are."""
    dice = np.random.default_rng(1)
    centres = dice.normal(size=(200, DIMENSION))
    made = centres[dice.integers(0, 200, COUNT)] + 0.7 * dice.normal(size=(COUNT, DIMENSION))
    found: np.ndarray = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)
    return found


@pytest.fixture(scope="module")
def rows(matrix: np.ndarray) -> list[Row]:
    return [(2 * at, row.tobytes()) for at, row in enumerate(matrix)]


@pytest.fixture(scope="module")
def queries() -> np.ndarray:
    """Between the clusters: a question is not a chunk."""
    made = np.random.default_rng(2).normal(size=(QUERIES, DIMENSION)).astype(np.float32)
    found: np.ndarray = made / np.linalg.norm(made, axis=1, keepdims=True)
    return found


def ready(snapshot: VectorSnapshot) -> VectorSnapshot:
    snapshot.look.make()
    return snapshot


def recall(
    found: VectorSnapshot, exact: VectorSnapshot, queries: np.ndarray, allowed: np.ndarray | None
) -> float:
    pairs = [(found.search(q, 10, allowed)[0], exact.search(q, 10, allowed)[0]) for q in queries]
    return float(np.mean([np.isin(wanted, held).mean() for held, wanted in pairs]))


@pytest.mark.parametrize("rule", [EXACT, BY_CODES])
def test_a_base_from_a_stream_is_that_from_a_list(rows: list[Row], rule: IndexRule, tmp_path: Path) -> None:
    """Zero vectors are left out of both, so a stream may promise more than it gives."""
    given = OnePass([*rows[:3000], (2 * COUNT, bytes(2 * DIMENSION))])
    streamed = vectors.build_snapshot(1, DIMENSION, given, COUNT, rule)
    listed = vectors.build_snapshot(1, DIMENSION, rows[:3000], rule=rule)
    assert given.passes == 1
    for name, made in (("streamed", streamed), ("listed", listed)):
        vectors.save_snapshot(made, tmp_path / name)
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "listed").read_bytes()


def test_the_number_of_vectors_decides(rows: list[Row]) -> None:
    for count in (1_000, 1_001):
        made = vectors.build_snapshot(1, DIMENSION, rows[:count], rule=BY_CODES)
        assert (made.look.codes is not None) == (count > BY_CODES.exact_up_to)
    assert not BY_CODES.has_codes(5_000, 7), "a code is of pairs of dimensions"
    assert RULE.has_codes(850_000, 256)
    assert not RULE.has_codes(85_000, 256)


def test_a_search_by_codes_finds_nearly_all_that_an_exact_one_does(
    rows: list[Row], queries: np.ndarray
) -> None:
    found = ready(vectors.build_snapshot(1, DIMENSION, rows, rule=BY_CODES))
    exact = ready(vectors.build_snapshot(1, DIMENSION, rows, rule=EXACT))
    assert found.look.coarse is not None
    assert found.look.coarse.search(queries[0], 10) is not None, "the codes are used"
    assert recall(found, exact, queries, None) >= 0.99


def test_edits_and_filters_hold_for_a_search_by_codes(rows: list[Row], queries: np.ndarray) -> None:
    start, came = rows[:7_000], rows[7_000:]
    gone = [key for key, _ in start[::5]]
    found, exact = (
        ready(vectors.build_snapshot(1, DIMENSION, start, rule=rule)).with_changes(2, gone, came)
        for rule in (BY_CODES, EXACT)
    )
    assert found.live_keys() == {key for key, _ in rows} - set(gone)
    everything = np.arange(0, 2 * COUNT, dtype=np.int64)
    for allowed in (None, everything[: COUNT + COUNT // 2], everything[::6], everything[:300], everything):
        assert recall(found, exact, queries, allowed) >= 0.99
    for query in queries:
        keys = found.search(query, 10, everything[::6])[0]
        assert not set(keys.tolist()) & set(gone)
        assert not (keys % 6).any()


def test_a_filter_that_leaves_only_what_is_far_is_answered_exactly(
    matrix: np.ndarray, rows: list[Row]
) -> None:
    """The allowed half has nothing to do with the query: their codes are not the nearest."""
    found = ready(vectors.build_snapshot(1, DIMENSION, rows, rule=BY_CODES))
    query = matrix[0].astype(np.float32)
    scores = matrix.astype(np.float32) @ query
    far = np.sort(2 * np.argsort(scores)[: COUNT // 2].astype(np.int64))
    keys = found.search(query, 10, far)[0]
    assert keys.tolist() == found.search(query, 10, far[np.isin(far, keys)])[0].tolist()
    assert scores[keys // 2].min() >= np.sort(scores[far // 2])[-10] - 1e-6


def test_codes_are_saved_and_read_again(rows: list[Row], queries: np.ndarray, tmp_path: Path) -> None:
    made = ready(vectors.build_snapshot(7, DIMENSION, rows, rule=BY_CODES))
    vectors.save_snapshot(made, tmp_path / "v.faiss")
    loaded = ready(vectors.load_snapshot(tmp_path / "v.faiss", BY_CODES))
    assert (loaded.seq, loaded.live_keys()) == (7, made.live_keys())
    for query in queries:
        assert loaded.search(query, 10)[0].tolist() == made.search(query, 10)[0].tolist()


@pytest.mark.parametrize("place", [-1, -COUNT, 40, 400])
def test_a_flipped_bit_in_a_file_with_codes_is_noticed(rows: list[Row], place: int, tmp_path: Path) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(1, DIMENSION, rows[:2_000], rule=BY_CODES), file)
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(bytes(data))
    with pytest.raises(IndexUnusableError, match="vector index"):
        vectors.load_snapshot(file, BY_CODES)


def test_a_file_by_another_rule_or_of_another_version_is_refused(rows: list[Row], tmp_path: Path) -> None:
    """Whoever opens it makes it again from the catalog."""
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(1, DIMENSION, rows[:10], rule=BY_CODES), file)
    with pytest.raises(IndexUnusableError, match=r"is exact to 1000 vectors.*should be exact to 250000"):
        vectors.load_snapshot(file)
    file.write_bytes(b"vault-indexer vectors 1 " + file.read_bytes()[24:])
    with pytest.raises(IndexUnusableError, match="not a vector file of this version"):
        vectors.load_snapshot(file, BY_CODES)
