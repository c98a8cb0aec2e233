"""Laws of fusion by rank, of the mean of the evidence, and of age."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import RecencySettings
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.rank.candidates import Candidates, global_keys
from vault_indexer.search.rank.fuse import reciprocal_rank_fusion
from vault_indexer.search.rank.recency import recency_factors
from vault_indexer.search.rank.rerank import Evidence, weighted_mean
from vault_indexer.search.rank.retrieve import merge_top_k

Rankings = dict[str, list[int]]
Weights = dict[str, float]

KEYS = st.integers(0, 20)
NAMES = ("graph", "keyword", "vector")
RANKINGS = st.fixed_dictionaries({name: st.lists(KEYS, unique=True) for name in NAMES})
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.5, 1.0, 1.5]) for name in NAMES})
ROWS = 4
COLUMN = st.lists(st.floats(0, 1), min_size=ROWS, max_size=ROWS).map(np.array)
PARTS = st.lists(st.builds(Evidence, st.sampled_from([0.5, 1.0, 2.5]), COLUMN), min_size=1, max_size=3)


def test_rrf_adds_the_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion({"a": [1, 2], "b": [2]}, {"a": 1.0, "b": 0.5}, 60)
    assert fused == {1: 1 / 61, 2: 1 / 62 + 0.5 / 61}


@given(RANKINGS, WEIGHTS)
def test_rrf_does_not_depend_on_the_order_of_rankings(rankings: Rankings, weights: Weights) -> None:
    turned = dict(reversed(rankings.items()))
    assert reciprocal_rank_fusion(rankings, weights, 60) == reciprocal_rank_fusion(turned, weights, 60)


def test_evidence_is_a_weighted_mean() -> None:
    mean = weighted_mean([Evidence(1.0, np.array([1.0, 0.2])), None, Evidence(3.0, np.array([0.0, 0.8]))], 2)
    assert mean.tolist() == pytest.approx([0.25, 0.65])


@given(PARTS)
def test_evidence_stays_between_zero_and_one(parts: list[Evidence]) -> None:
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in weighted_mean(parts, ROWS))


@given(PARTS, COLUMN)
def test_evidence_that_counts_nothing_is_not_there(parts: list[Evidence], column: object) -> None:
    with_nothing = [*parts, Evidence(0.0, np.asarray(column)), None]
    assert weighted_mean(with_nothing, ROWS).tolist() == weighted_mean(parts, ROWS).tolist()


@given(COLUMN)
def test_one_part_alone_keeps_its_values(column: object) -> None:
    values = np.asarray(column)
    assert weighted_mean([Evidence(2.0, values)], ROWS).tolist() == values.tolist()


@given(PARTS, st.integers(0, ROWS - 1))
def test_better_evidence_never_lowers_a_row(parts: list[Evidence], row: int) -> None:
    first, *others = parts
    raised = first.values.copy()
    raised[row] = 1.0
    better = weighted_mean([Evidence(first.weight, raised), *others], ROWS)
    assert better[row] >= weighted_mean(parts, ROWS)[row] - 1e-9


def test_equal_scores_stand_by_key() -> None:
    table = Candidates(60)
    table.rows_at(np.array([3, 1, 2]))
    assert table.key[table.best_first(np.array([0.5, 0.5, 0.9]))].tolist() == [2, 1, 3]


def test_evidence_stays_with_its_rows() -> None:
    table = Candidates(60)
    table.rows_at(np.array([3, 1, 2]))
    table.evidence = {"links": np.array([0.3, 0.1, 0.2])}
    table.take(np.array([2, 0]))
    assert table.key.tolist() == [2, 3]
    assert table.evidence["links"].tolist() == [0.2, 0.3]
    table.rows_at(np.array([7]))
    assert np.isnan(table.evidence["links"]).tolist() == [False, False, True]


CHUNKS = st.sets(st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(0, 2)))


@given(CHUNKS, CHUNKS)
def test_rows_of_a_vault_have_the_keys_of_its_catalog(
    first: set[tuple[int, int, int]], more: set[tuple[int, int, int]]
) -> None:
    table = Candidates(60)
    keys = {
        (vault, note << CHUNK_KEY_BITS | chunk): int(
            global_keys(vault, np.array([note << CHUNK_KEY_BITS | chunk]))[0]
        )
        for vault, note, chunk in first | more
    }
    for part in (first, more):
        wanted = [keys[vault, note << CHUNK_KEY_BITS | chunk] for vault, note, chunk in sorted(part)]
        rows = table.rows_at(np.array(wanted, np.int64))
        assert table.key[rows].tolist() == wanted
    assert len(table) == len(first | more)
    for vault in range(4):
        rows = table.rows_of_vault(vault)
        assert table.local_key[rows].tolist() == sorted(key for one, key in keys if one == vault)
    assert np.isnan(table.cosine).all() and not table.vector_rank.any()


def test_the_best_of_several_vaults_are_those_of_one_list() -> None:
    one = np.array([1, 2]), np.array([0.5, 0.1], np.float32)
    two = np.array([1, 7]), np.array([0.9, 0.5], np.float32)
    keys, scores = merge_top_k([one, two], 3)
    assert keys.tolist() == [global_keys(1, np.array([1]))[0], 1, global_keys(1, np.array([7]))[0]]
    assert scores.tolist() == pytest.approx([0.9, 0.5, 0.5])
    assert merge_top_k([one], 1) == one


DAY_NS = 86_400 * 1_000_000_000


@given(st.dictionaries(st.integers(1, 9), st.floats(-5, 40), max_size=6), st.booleans())
def test_a_note_has_the_largest_boost_that_its_age_allows(days: dict[int, float], enabled: bool) -> None:
    now = 1_000 * DAY_NS
    modified = {note_id: now - int(age * DAY_NS) for note_id, age in days.items()}
    found = recency_factors(modified, now, RecencySettings(enabled=enabled))
    for note_id, modified_ns in modified.items():
        age = (now - modified_ns) / DAY_NS
        assert found[note_id] == ((1.2 if age <= 7 else 1.1 if age <= 30 else 1.0) if enabled else 1.0)
    assert found.keys() == modified.keys()
