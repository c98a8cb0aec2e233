"""Laws of fusion by rank, of the mean of the evidence, and of age."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import RecencySettings, SearchSettings
from vault_indexer.model import CHUNK_KEY_BITS
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import (
    Candidates,
    RankRequest,
    fuse,
    fused_scores,
    global_keys,
    local_notes,
)
from vault_indexer.search.rank.rank import recency_factors
from vault_indexer.search.rank.rerank import Evidence, rerank, weighted_mean
from vault_indexer.search.rank.retrieve import add_title_scores, group, merge_top_k, note_scores

ROWS = 4
COLUMN = st.lists(st.floats(0, 1), min_size=ROWS, max_size=ROWS).map(np.array)
PARTS = st.lists(st.builds(Evidence, st.sampled_from([0.5, 1.0, 2.5]), COLUMN), min_size=1, max_size=3)


def test_evidence_is_a_weighted_mean() -> None:
    mean = weighted_mean([Evidence(1.0, np.array([1.0, 0.2])), None, Evidence(3.0, np.array([0.0, 0.8]))], 2)
    assert mean.tolist() == pytest.approx([0.25, 0.65])


@given(PARTS)
def test_evidence_stays_between_zero_and_one(parts: list[Evidence]) -> None:
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in weighted_mean(parts, ROWS))


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


def table_of(*keys: int) -> Candidates:
    table = Candidates(60)
    table.rows_at(np.array(keys))
    return table


def request_for(settings: SearchSettings, *, limit: int = 1, by_note: bool = False) -> RankRequest:
    """A request over two vaults, in a language that counts half for the vectors of the first."""
    queries = [
        cast("PreparedQuery", SimpleNamespace(text="", language_weight=weight)) for weight in (0.5, 0.25)
    ]
    return RankRequest(queries, settings, limit, by_note)


def test_the_number_of_the_vault_stands_above_the_key() -> None:
    key = 3 << CHUNK_KEY_BITS | 5
    (of_second,) = global_keys(2, np.array([key])).tolist()
    assert (CHUNK_KEY_BITS, of_second) == (20, (2 << 48) + key)
    table = table_of(key, of_second)
    assert (table.vault.tolist(), table.local_key.tolist()) == ([0, 2], [key, key])
    assert local_notes(table.note).tolist() == [3, 3]
    largest = (1 << 48) - 1
    assert table_of(largest).local_key.tolist() == [largest]
    assert local_notes(table_of((1 << 48) + largest).note).tolist() == [(1 << 28) - 1]


@pytest.mark.parametrize(
    ("scores", "relative"), [([2.0, 0.5], [1.0, 0.25]), ([0.0, 0.0], [1.0, 1.0]), ([], [])]
)
def test_scores_are_told_relative_to_the_best(scores: list[float], relative: list[float]) -> None:
    table = table_of(*range(len(scores)))
    table.score = np.array(scores)
    assert table.normalized_scores().tolist() == relative


def fused_table() -> Candidates:
    table = table_of(10, 11, 12, 13)
    table.vector_rank = np.array([1, 2, 0, 3])
    table.word_rank = np.array([0, 1, 2, 0])
    table.link_rank = np.array([0, 0, 1, 0])
    return table


SETTINGS = SearchSettings.model_validate(
    {"rrf_k": 10, "rerank": 0, "weights": {"vector": 2.0, "keyword": 1.0, "graph": 0.5}}
)


def test_each_rank_counts_by_the_weight_of_its_ranking() -> None:
    expected = [2 / 11, 1 / 11 + 2 / 12, 0.5 / 11 + 1 / 12, 2 / 13]
    assert fused_scores(fused_table(), SETTINGS).tolist() == expected


@pytest.mark.parametrize(("limit", "kept"), [(1, [11, 10, 20]), (2, [11, 10, 13, 12, 20])])
def test_the_first_rows_and_those_of_the_name_are_reranked(limit: int, kept: list[int]) -> None:
    table = fused_table()
    table.named = {1: 20}
    settings = SETTINGS.model_copy(update={"rerank": 2})
    fuse(table, request_for(settings, limit=limit))
    assert (table.reranked, table.key.tolist()) == (2 * limit, kept)


def test_evidence_that_no_row_has_does_not_count() -> None:
    table = table_of(1, 2)
    rerank(table, request_for(SETTINGS.model_copy(update={"rerank": 9})))
    assert table.score.tolist() == [0, 0]
    assert table.evidence.keys() == {"evidence"}


def test_notes_stand_by_all_of_their_chunks() -> None:
    note = 1 << CHUNK_KEY_BITS
    chunks = {note: 1.0, note + 1: 3.0, note + 2: 2.0, 2 * note + 5: 0.5}
    scores = note_scores(chunks)
    assert scores == {1: (note + 1, pytest.approx(3.0 + 0.2 + 0.01)), 2: (2 * note + 5, 0.5)}
    assert note_scores({note + 1: 1.0, note: 1.0})[1][0] == note, "of equal ones the first"
    table = table_of(*chunks)
    table.score = np.array(list(chunks.values()))
    table.named = {1: note}
    group(table, request_for(SETTINGS))
    assert len(table) == 4
    group(table, request_for(SETTINGS, by_note=True))
    assert dict(zip(table.key.tolist(), table.score.tolist(), strict=True)) == {
        note: pytest.approx(3.21),
        2 * note + 5: 0.5,
    }


def test_a_note_of_the_name_gets_the_best_score_once_more() -> None:
    table = table_of(1, 2, 3)
    table.score = np.array([0.5, 0.2, 0.1])
    table.named = {9: 2}
    add_title_scores(table, request_for(SETTINGS))
    assert (table.title.tolist(), table.score.tolist()) == ([0, 0.5, 0], pytest.approx([0.5, 0.7, 0.1]))


@pytest.mark.parametrize(
    ("days", "boost"), [(2.0, 1.5), (2.01, 1.25), (10.0, 1.25), (10.01, 1.0), (-1.0, 1.5)]
)
def test_a_tier_holds_up_to_its_last_moment(days: float, boost: float) -> None:
    tiers = [{"days": 10.0, "boost": 1.25}, {"days": 2.0, "boost": 1.5}, {"days": 1.0, "boost": 1.1}]
    settings = RecencySettings.model_validate({"tiers": tiers})
    now = 1_000 * DAY_NS
    assert recency_factors({7: now - int(days * DAY_NS)}, now, settings) == {7: boost}
