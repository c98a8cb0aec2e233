"""The vector snapshot against a plain numpy search, through any history of edits; and its file: built from a
stream, written, read, and refused where it is not whole."""

import json
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
from golden_cases import check_golden, of_parts
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_indexer.errors import IndexUnusableError
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.store.vectors import index as vectors
from vault_indexer.store.vectors import spread_evenly

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
    dimension=st.sampled_from([7, 8, 64, 256]),
    spread=st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
    copies=st.sampled_from([1, 5, 700]),
    spikes=st.sampled_from([0, 20, 2000]),
    uneven=st.sampled_from([0.0, 0.01, 0.5]),
    seed=st.integers(0, 99),
    k=st.integers(1, 40),
)
@settings(max_examples=30)
def test_what_the_first_look_leaves_out_is_none_of_the_best(
    dimension: int, spread: float, copies: int, spikes: int, uneven: float, seed: int, k: int
) -> None:
    """Also where many vectors are nearly or quite the same, where some have one large number that rounding
    cuts off, and where they differ in length. Where the look tells nothing it says so."""
    dice = np.random.default_rng(seed)
    matrix = dice.normal(size=dimension) + spread * dice.normal(size=(6_000 // copies, dimension))
    matrix = np.repeat(matrix, copies, axis=0)
    matrix[:spikes] = np.eye(dimension)[dice.integers(0, dimension, min(spikes, len(matrix)))]
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix *= 1.0 - uneven * dice.random(size=(len(matrix), 1))
    rows = [(key, row.astype(np.float16).tobytes()) for key, row in enumerate(matrix)]
    plain = vectors.build_snapshot(1, dimension, rows)
    made = vectors.build_snapshot(1, dimension, rows)
    made.look.make()
    exact = matrix.astype(np.float16).astype(np.float64)
    for query in (dice.normal(size=dimension), matrix[-1], np.eye(dimension)[0]):
        products = exact @ query.astype(np.float32)
        off = 1e-6 * np.linalg.norm(query)  # what float32 may take for equal
        least = np.sort(products)[-k] - off
        assert made.look.coarse is not None
        found = made.look.coarse.search(query.astype(np.float32), k)
        if found is not None:
            assert set(np.flatnonzero(products > least + 2 * off)) <= set(found[0].tolist())
        keys = made.search(query.astype(np.float32), k)[0].tolist()
        assert len(set(keys)) == k
        assert (products[keys] >= least).all()
        if copies == 1 and not spikes:
            assert keys == plain.search(query.astype(np.float32), k)[0].tolist()


def test_a_full_pass_orders_vectors_that_are_equally_near_as_a_first_look_does() -> None:
    """The products of these with the query differ only by the order in which they are added up."""
    dice = np.random.default_rng(8)
    one = np.abs(dice.normal(size=64))
    near = np.array([dice.permutation(one) for _ in range(12)])
    matrix = np.concatenate([near, -near]) / np.linalg.norm(one)
    rows = [(key, row.astype(np.float16).tobytes()) for key, row in enumerate(matrix)]
    query = np.full(64, 0.1, np.float32)
    made = vectors.build_snapshot(1, 64, rows)
    exact = made.scores(query, made.keys)
    for k in range(1, 12):
        assert made.search(query, k)[0].tolist() == np.lexsort((made.keys, -exact))[:k].tolist()


def wait_for_look() -> None:
    for thread in threading.enumerate():
        if thread.name == "indexer-coarse":
            thread.join(180)


def test_a_first_look_over_many_vectors_is_made_beside_the_searches_and_mostly_suffices() -> None:
    dice = np.random.default_rng(3)
    matrix = dice.normal(size=(12_000, 64)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    rows = [(key, row.astype(np.float16).tobytes()) for key, row in enumerate(matrix)]
    made = vectors.build_snapshot(1, 64, rows)
    before = [made.search(query, 10)[0].tolist() for query in matrix[:20]]
    wait_for_look()
    assert made.look.coarse is not None
    sufficed = [made.look.coarse.search(query, 10) is not None for query in matrix[:20]]
    assert [made.search(query, 10)[0].tolist() for query in matrix[:20]] == before
    assert sum(sufficed) > 15


@given(seed=st.integers(0, 9), base=st.integers(1, 40), changed=st.integers(1, 40))
def test_equal_vectors_are_equally_near_and_so_are_their_notes(seed: int, base: int, changed: int) -> None:
    row = packed(seed)
    query = np.random.default_rng(seed + 100).normal(size=DIMENSION).astype(np.float32)
    keys = [note << CHUNK_KEY_BITS for note in range(base + changed)]
    made = vectors.build_snapshot(1, DIMENSION, [(key, row) for key in keys[:base]])
    after = made.with_changes(2, [], [(key, row) for key in keys[base:]])
    found, scores = after.search(query, len(keys))
    assert found.tolist() == keys
    assert len(set(scores.tolist())) == 1
    notes = np.arange(len(keys), dtype=np.int64)
    assert len(set(after.note_scores(query, notes).tolist())) == 1
    made.look.make()
    assert len(set(made.note_scores(query, notes[:base]).tolist())) == 1


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


@pytest.mark.parametrize(
    "harm",
    [
        *(partial(flipped, place=place) for place in (0, 30, 200, 500, 700)),
        *(itemgetter(slice(size)) for size in (0, 10, 300)),
    ],
)
def test_a_flipped_bit_anywhere_or_a_cut_is_noticed(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    file, rows = tmp_path / "v.faiss", [(key, packed(key)) for key in range(1, 50)]
    vectors.save_snapshot(vectors.build_snapshot(1, DIMENSION, rows), file)
    file.write_bytes(harm(file.read_bytes()))
    with pytest.raises(IndexUnusableError, match="vector index"):
        vectors.load_snapshot(file)


def unit_rows(count: int, dimension: int = DIMENSION, seed: int = 0) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(count, dimension))
    unit: np.ndarray = made / np.linalg.norm(made, axis=1, keepdims=True)
    return unit.astype(np.float16)


def with_keys(keys: Iterable[int], matrix: np.ndarray) -> list[tuple[int, bytes]]:
    return [(key, row.tobytes()) for key, row in zip(keys, matrix, strict=True)]


@pytest.mark.parametrize("is_coarse", [False, True])
def test_a_filter_of_many_keys_leaves_the_best_of_base_and_delta(is_coarse: bool) -> None:
    matrix = unit_rows(6_100)
    keys = list(range(0, 12_200, 2))
    made = vectors.build_snapshot(1, DIMENSION, with_keys(keys[:6_000], matrix[:6_000]))
    if is_coarse:
        made.look.make()
    gone = [key for key in keys[:6_000] if key % 7 == 0]
    snapshot = made.with_changes(2, gone, with_keys(keys[6_000:], matrix[6_000:]))
    allowed = np.array([key for key in range(12_300) if key % 3], np.int64)
    query = np.eye(DIMENSION, dtype=np.float32)[0]
    exact = dict(zip(keys, (matrix.astype(np.float32) @ query).tolist(), strict=True))
    left = [key for key in keys if key % 3 and (key % 7 or key >= 12_000)]
    for k in (1, 20, 5_000):
        found, scores = snapshot.search(query, k, allowed)
        assert found.tolist() == sorted(left, key=lambda key: (-exact[key], key))[:k]
        assert scores.tolist() == pytest.approx([exact[key] for key in found.tolist()], abs=1e-6)
    assert len(snapshot.search(query, 20, np.arange(20_001, 30_001))[0]) == 0
    assert snapshot.size == len(snapshot.live) == 6_100 - len(gone)


def test_the_worst_half_of_the_vectors_is_searched_as_well_as_the_best() -> None:
    matrix = unit_rows(12_000, 16)
    made = vectors.build_snapshot(1, 16, with_keys(range(12_000), matrix))
    made.look.make()
    query = np.eye(16, dtype=np.float32)[3]
    products = matrix.astype(np.float32) @ query
    among = products < np.median(products)
    positions, scores = made.look.search(query, 10, among)
    assert among[positions].all()
    best = np.sort(products[among])[::-1][:10]
    assert np.sort(scores)[::-1][:10].tolist() == pytest.approx(best.tolist(), abs=1e-6)
    assert made.look.coarse is not None
    assert made.look.coarse.search(query, 10, among) is None, "none of the rows that look best is among them"
    assert made.look.coarse.search(np.zeros(16, np.float32), 1) is None, "all are equally far"


def test_the_cosine_of_each_key_is_that_of_its_newest_vector() -> None:
    matrix = unit_rows(6)
    made = vectors.build_snapshot(1, DIMENSION, with_keys([2, 4, 6], matrix[:3]))
    snapshot = made.with_changes(2, [2, 6, 9], with_keys([6, 8], matrix[3:5]))
    query = matrix[5].astype(np.float32)
    exact = (matrix.astype(np.float32) @ query).tolist()
    found = snapshot.scores(query, np.array([1, 2, 4, 6, 8, 9], np.int64)).tolist()
    nan = float("nan")
    assert found == pytest.approx([nan, nan, exact[1], exact[3], exact[4], nan], abs=1e-6, nan_ok=True)
    assert snapshot.live_keys() == {4, 6, 8}
    later = snapshot.with_changes(3, [8], [])
    assert (later.live_keys(), snapshot.live_keys()) == ({4, 6}, {4, 6, 8})
    empty = vectors.build_snapshot(1, DIMENSION, [])
    assert np.isnan(empty.scores(query, np.array([1], np.int64))).all()
    assert empty.with_changes(2, [5], with_keys([7], matrix[:1])).live_keys() == {7}


def test_the_mean_of_a_note_has_length_1() -> None:
    first, second, third = (note << CHUNK_KEY_BITS for note in (1, 2, 3))
    matrix = unit_rows(3)
    made = vectors.build_snapshot(1, DIMENSION, with_keys([first, first + 1], matrix[:2]))
    opposite = [(second, matrix[2].tobytes()), (second + 1, (-matrix[2]).tobytes())]
    snapshot = made.with_changes(2, [], opposite)
    mean = snapshot.mean_of_note(1)
    both = matrix[:2].astype(np.float32).mean(axis=0)
    assert mean is not None
    assert mean.tolist() == pytest.approx((both / np.linalg.norm(both)).tolist(), abs=1e-6)
    assert snapshot.mean_of_note(2) is None, "it points nowhere"
    assert snapshot.mean_of_note(third >> CHUNK_KEY_BITS) is None


def test_the_means_of_notes_that_lie_across_batches() -> None:
    sizes = (5_000, 7_000, 9_000, 1)
    keys = [note << CHUNK_KEY_BITS | at for note, size in enumerate(sizes) for at in range(size)]
    matrix = unit_rows(len(keys), 2) * np.float16(0.5) + np.float16(0.25)
    made = vectors.build_snapshot(1, 2, with_keys(keys, matrix))
    made.look.make()
    query = np.array([0.6, 0.8], np.float32)
    ends = np.cumsum(sizes)
    expected = []
    for size, end in zip(sizes, ends, strict=True):
        mean = matrix[end - size : end].astype(np.float64).mean(axis=0)
        expected.append(float(mean @ query / np.linalg.norm(mean)))
    found = made.note_scores(query, np.arange(6, dtype=np.int64)).tolist()
    assert found[:4] == pytest.approx(expected, abs=2e-3)
    assert np.isnan(found[4:]).all()


def test_of_a_part_of_a_vault_the_background_is_that_of_the_whole() -> None:
    whole = unit_rows(5).astype(np.float32)
    part = replace(vectors.build_snapshot(1, DIMENSION, []), background=whole)
    assert part.background_scores(whole[0]).tolist() == pytest.approx((whole @ whole[0]).tolist())


def test_a_base_is_written_again_when_a_part_of_it_has_changed() -> None:
    def due(*counts: str) -> str:
        rows, added, dead = map(int, counts)
        keys, delta_keys = np.arange(rows), np.arange(rows, rows + added)
        plain = vectors.build_snapshot(1, 2, [])
        snapshot = replace(plain, keys=keys, dead=keys < dead, delta_keys=delta_keys)
        return f"{snapshot.worth_compacting}, {snapshot.compaction_overdue}"

    check_golden(Path(__file__).parent / "fixtures" / "compaction.md", {"": of_parts(due)})


@pytest.mark.parametrize(
    ("count", "limit", "expected"),
    [(0, 5, []), (1, 5, [0]), (3, 5, [0, 1, 2]), (5, 5, [0, 1, 2, 3, 4]), (9, 3, [0, 4, 8]), (9, 0, [])],
)
def test_numbers_are_spread_from_the_first_to_the_last(count: int, limit: int, expected: list[int]) -> None:
    assert spread_evenly(count, limit).tolist() == expected


@pytest.mark.parametrize(("count", "is_made"), [(9_999, False), (10_000, True)])
def test_a_first_look_is_made_at_the_third_search_of_many_vectors(count: int, is_made: bool) -> None:
    made = vectors.build_snapshot(1, 2, with_keys(range(count), unit_rows(count, 2)))
    query = np.array([1.0, 0.0], np.float32)

    def waited() -> bool:
        wait_for_look()
        return made.look.coarse is not None and made.look.means is not None

    for _ in range(2):
        made.search(query, 1)
        assert not waited()
    made.search(query, 1)
    assert waited() is is_made
    empty = vectors.build_snapshot(1, 2, [])
    empty.look.make()
    assert (empty.look.coarse, empty.look.means) == (None, None)


def test_a_large_base_comes_back_as_it_was(tmp_path: Path) -> None:
    matrix = unit_rows(40_000, 64)
    made = vectors.build_snapshot(3, 64, with_keys(range(5, 80_005, 2), matrix))
    vectors.save_snapshot(made, tmp_path / "v.faiss")
    loaded = vectors.load_snapshot(tmp_path / "v.faiss")
    assert (loaded.seq, loaded.dimension, loaded.size) == (3, 64, 40_000)
    assert loaded.keys.tolist() == made.keys.tolist()
    assert loaded.look.halves.tobytes() == matrix.tobytes()
    query = matrix[7].astype(np.float32)
    assert loaded.search(query, 5)[0].tolist() == made.search(query, 5)[0].tolist()


WIDE = 64
COUNT = 3_000
MAGIC = b"vault-indexer vectors 2 "

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
def rows() -> list[Row]:
    made = np.random.default_rng(1).normal(size=(COUNT, WIDE))
    unit = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)
    return [(2 * at, row.tobytes()) for at, row in enumerate(unit)]


def test_a_base_from_a_stream_is_that_from_a_list(rows: list[Row], tmp_path: Path) -> None:
    """Zero vectors are left out of both, so a stream may promise more than it gives."""
    given = OnePass([*rows, (2 * COUNT, bytes(2 * WIDE))])
    streamed = vectors.build_snapshot(1, WIDE, given, 2 * COUNT)
    listed = vectors.build_snapshot(1, WIDE, rows)
    assert given.passes == 1
    for name, made in (("streamed", streamed), ("listed", listed)):
        vectors.save_snapshot(made, tmp_path / name)
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "listed").read_bytes()


def earlier(file: Path, *, codes: bool) -> None:
    """Change a file to the form that it had before decision 83."""
    first, rest = file.read_bytes().split(b"\n", 1)
    header = json.loads(first.removeprefix(MAGIC)[9:])
    line = json.dumps({**header, "rule": "exact to 250000 vectors", "codes": codes}).encode() + b"\n"
    body = rest + bytes(1000 if codes else 0)
    file.write_bytes(MAGIC + b"%08x" % zlib.crc32(line + body) + b" " + line + body)


def test_a_file_of_an_earlier_version_is_read_if_it_holds_the_same(rows: list[Row], tmp_path: Path) -> None:
    """Whoever opens one that is refused makes it again from the catalog."""
    file = tmp_path / "v.faiss"
    made = vectors.build_snapshot(7, WIDE, rows[:20])
    vectors.save_snapshot(made, file)
    earlier(file, codes=False)
    loaded = vectors.load_snapshot(file)
    assert (loaded.seq, loaded.live_keys()) == (7, made.live_keys())
    vectors.save_snapshot(made, file)
    earlier(file, codes=True)
    with pytest.raises(IndexUnusableError, match="its size does not fit"):
        vectors.load_snapshot(file)
    vectors.save_snapshot(made, file)
    file.write_bytes(b"vault-indexer vectors 1 " + file.read_bytes()[24:])
    with pytest.raises(IndexUnusableError, match="not a vector file of this version"):
        vectors.load_snapshot(file)


@pytest.mark.parametrize("key", ["seq", "count", "dimension"])
def test_a_header_without_a_key_is_refused_whatever_its_checksum(
    rows: list[Row], tmp_path: Path, key: str
) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(7, WIDE, rows[:20]), file)
    first, body = file.read_bytes().split(b"\n", 1)
    header = json.loads(first.removeprefix(MAGIC)[9:])
    assert header == {"seq": 7, "count": 20, "dimension": WIDE}
    del header[key]
    line = json.dumps(header).encode() + b"\n"
    file.write_bytes(MAGIC + b"%08x" % zlib.crc32(line + body) + b" " + line + body)
    with pytest.raises(IndexUnusableError, match=f"vector index {re.escape(str(file))}: '{key}'"):
        vectors.load_snapshot(file)


def test_a_checksum_of_another_length_is_that_of_another_version(rows: list[Row], tmp_path: Path) -> None:
    file = tmp_path / "v.faiss"
    vectors.save_snapshot(vectors.build_snapshot(7, WIDE, rows[:20]), file)
    content = file.read_bytes()
    for crc in (content[24:31], b"0" + content[24:32]):
        file.write_bytes(MAGIC + crc + content[32:])
        with pytest.raises(IndexUnusableError, match="not a vector file of this version"):
            vectors.load_snapshot(file)
    file.write_bytes(content[:24] + b"00000000" + content[32:])
    with pytest.raises(IndexUnusableError, match="checksum does not fit"):
        vectors.load_snapshot(file)
    with pytest.raises(IndexUnusableError, match="No such file"):
        vectors.load_snapshot(tmp_path / "none")
