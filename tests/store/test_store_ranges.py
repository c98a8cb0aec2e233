"""What the stores say of ranges of keys: a note is the range of its chunks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_indexer.arrays import first_of_each, spread_ranges
from vault_indexer.store.keywords import FieldWeights, KeywordDocument, KeywordIndex
from vault_indexer.store.keywords.snapshot import KeyOrder
from vault_indexer.store.vectors.index import VectorSnapshot, build_snapshot
from vault_indexer.text.query import analyze_query

DIMENSION = 8

Ranges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=8)


def keys_of(sizes: list[int]) -> list[list[int]]:
    """Chunk keys of notes of so many chunks."""
    return [[note << 20 | at for at in range(size)] for note, size in enumerate(sizes, start=1)]


def borders(count: int) -> tuple[np.ndarray, np.ndarray]:
    notes = np.arange(1, count + 1, dtype=np.int64)
    return notes << 20, (notes + 1) << 20


def vectors_of(keys: list[int], seed: int) -> list[tuple[int, bytes]]:
    random = np.random.default_rng(seed)
    made = random.normal(size=(len(keys), DIMENSION))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return [(key, row.astype(np.float16).tobytes()) for key, row in zip(keys, made, strict=True)]


def brute(rows: list[tuple[int, bytes]], query: np.ndarray, first: int, end: int) -> float:
    held = [np.frombuffer(data, np.float16).astype(np.float64) for key, data in rows if first <= key < end]
    if not held:
        return float("nan")
    mean = np.mean(held, axis=0)
    return float(mean @ query / np.linalg.norm(mean))


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 99), st.data())
def test_the_mean_of_a_range_is_that_of_its_vectors(sizes: list[int], seed: int, data: st.DataObject) -> None:
    rows = vectors_of([key for own in keys_of(sizes) for key in own], seed)
    later = data.draw(st.sets(st.sampled_from(range(len(rows))))) if rows else set()
    gone = data.draw(st.sets(st.sampled_from(range(len(rows))))) if rows else set()
    base = build_snapshot(1, DIMENSION, [row for at, row in enumerate(rows) if at not in later])
    snapshot: VectorSnapshot = base.with_changes(
        2, [], [row for at, row in enumerate(rows) if at in later]
    ).with_changes(3, [rows[at][0] for at in gone], [])
    left = [row for at, row in enumerate(rows) if at not in gone]
    query = np.ones(DIMENSION, np.float32) / np.sqrt(np.float32(DIMENSION))
    firsts, ends = borders(len(sizes))
    expected = [brute(left, query, int(a), int(b)) for a, b in zip(firsts, ends, strict=True)]
    for _ in ("from the chunks", "from the means of the notes"):
        found = snapshot.note_scores(query, firsts >> 20).tolist()
        assert found == pytest.approx(expected, abs=2e-3, nan_ok=True)
        snapshot.look.make()


@given(Ranges, st.integers(1, 6))
def test_of_a_long_range_so_many_numbers_are_taken_evenly(pairs: list[tuple[int, int]], most: int) -> None:
    lengths = np.array([length for _, length in pairs], np.int64)
    firsts = np.cumsum([gap for gap, _ in pairs], dtype=np.int64) + np.concatenate(
        [np.zeros(1, np.int64), lengths.cumsum()[:-1]]
    )
    owners, numbers = spread_ranges(firsts, firsts + lengths, most)
    for at, (first, length) in enumerate(zip(firsts.tolist(), lengths.tolist(), strict=True)):
        own = numbers[owners == at].tolist()
        assert len(own) == len(set(own)) == min(length, most)
        assert all(first <= number < first + length for number in own)
        assert length > most or own == list(range(first, first + length))


@given(st.lists(st.integers(-3, 9)).map(sorted))
def test_the_first_of_each_number_is_where_a_search_finds_it(ordered: list[int]) -> None:
    expected = [ordered.index(number) == at for at, number in enumerate(ordered)]
    assert first_of_each(np.array(ordered, np.int64)).tolist() == expected


def test_coverage_is_what_the_documents_of_a_range_hold_together(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    index = KeywordIndex.create(tmp_path_factory.mktemp("keywords"))
    texts = [["apple", ""], ["pear"], ["apple pear plum"], [""]]
    keyed = {
        note << 20 | at: text.split()
        for note, own in enumerate(texts, start=1)
        for at, text in enumerate(own)
    }
    later = {(2 << 20) | 1: ["apple"]}
    index.apply([KeywordDocument(key, content=words) for key, words in keyed.items()], [], 1)
    index.apply([KeywordDocument(key, content=words) for key, words in later.items()], [3 << 20], 2)
    terms = analyze_query("apple pear", ("en",))
    firsts, ends = borders(len(texts))
    held = index.snapshot().term_presence(firsts, ends, terms, FieldWeights())
    apple, pear, neither = [True, False], [False, True], [False, False]
    assert held.ranges.tolist() == [apple, [True, True], neither, neither]
    keys = [1 << 20, (1 << 20) | 1, 2 << 20, (2 << 20) | 1, 4 << 20]
    of_documents = dict(zip(keys, [apple, neither, pear, apple, neither], strict=True))
    assert dict(zip(held.keys.tolist(), held.documents.tolist(), strict=True)) == of_documents
    asked = [4 << 20, 1 << 20, 3 << 20, 9 << 20]  # the last two are not there
    assert held.documents_of(np.array(asked)).tolist() == [neither, apple, neither, neither]


@settings(deadline=None)
@given(st.integers(0, 700), st.integers(0, 700))
def test_the_background_is_spread_over_base_and_delta(old: int, new: int) -> None:
    rows = vectors_of([1 << 20 | at for at in range(old + new)], old)
    gone = [key for key, _ in rows[: old // 2]]
    snapshot = build_snapshot(1, DIMENSION, rows[:old]).with_changes(2, gone, rows[old:])
    query = np.ones(DIMENSION, np.float32) / np.sqrt(np.float32(DIMENSION))
    cosines = sorted(float(np.frombuffer(data, np.float16) @ query) for _, data in rows[old // 2 :])
    found = snapshot.background_scores(query)
    assert len(found) <= 2 * 256
    assert bool(len(found)) == bool(old or new)
    for cosine in found.tolist():
        assert min(abs(cosine - other) for other in cosines) < 1e-2


# Documents by key: what is deleted is not found, and whatever order the segments have, all else is.


KEYS = st.lists(st.integers(0, 30), unique=True, max_size=12)


@given(KEYS, st.data())
def test_the_positions_of_keys_and_of_ranges(keys: list[int], data: st.DataObject) -> None:
    live = data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    borders = sorted(data.draw(st.lists(st.integers(0, 31), max_size=6)))
    wanted = sorted(data.draw(KEYS))
    order = KeyOrder(np.array(keys, np.int64), np.array(live, bool))
    position = {key: at for at, (key, alive) in enumerate(zip(keys, live, strict=True)) if alive}
    assert order.holds(np.array(wanted, np.int64)).tolist() == [key in position for key in wanted]
    found = order.positions_of(np.array(wanted, np.int64))
    assert found.tolist() == [position[key] for key in wanted if key in position]
    firsts, ends = borders[::2], borders[1::2]
    firsts = firsts[: len(ends)]
    owners, within = order.positions_between(np.array(firsts, np.int64), np.array(ends, np.int64))
    expected = [
        (owner, position[key])
        for owner, (first, end) in enumerate(zip(firsts, ends, strict=True))
        for key in range(first, end)
        if key in position
    ]
    assert list(zip(owners.tolist(), within.tolist(), strict=True)) == expected


@given(KEYS, st.data())
def test_the_keys_at_positions_are_those_of_live_documents_once_each(
    keys: list[int], data: st.DataObject
) -> None:
    live = data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    at = data.draw(st.lists(st.integers(0, len(keys) - 1))) if keys else []
    order = KeyOrder(np.array(keys, np.int64), np.array(live, bool))
    found = order.keys_at(np.array(at, np.int32))
    assert found.tolist() == sorted({keys[place] for place in at if live[place]})
