"""Laws of fusion, by rank and by score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import RecencySettings
from vault_indexer.search.rank.fuse import best_first, convex_combination, reciprocal_rank_fusion
from vault_indexer.search.rank.recency import recency_factors
from vault_indexer.search.rank.sources import global_note, local_notes

Rankings = dict[str, list[int]]
Scores = dict[str, dict[int, float]]
Weights = dict[str, float]

KEYS = st.integers(0, 20)
NAMES = ("graph", "keyword", "vector")
RANKINGS = st.fixed_dictionaries({name: st.lists(KEYS, unique=True) for name in NAMES})
SCORES = st.fixed_dictionaries({name: st.dictionaries(KEYS, st.floats(0, 1)) for name in NAMES})
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.5, 1.0, 1.5]) for name in NAMES})


def test_rrf_adds_the_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion({"a": [1, 2], "b": [2]}, {"a": 1.0, "b": 0.5}, 60)
    assert fused == {1: 1 / 61, 2: 1 / 62 + 0.5 / 61}


def test_convex_is_the_weighted_mean() -> None:
    fused = convex_combination({"a": {1: 1.0, 2: 0.2}, "b": {2: 0.8}}, {"a": 1.0, "b": 3.0})
    assert fused == pytest.approx({1: 0.25, 2: 0.65})


@given(RANKINGS, WEIGHTS)
def test_rrf_does_not_depend_on_the_order_of_rankings(rankings: Rankings, weights: Weights) -> None:
    turned = dict(reversed(rankings.items()))
    assert reciprocal_rank_fusion(rankings, weights, 60) == reciprocal_rank_fusion(turned, weights, 60)


@given(SCORES, WEIGHTS)
def test_convex_does_not_depend_on_the_order_of_rankings(scores: Scores, weights: Weights) -> None:
    turned = {name: dict(reversed(own.items())) for name, own in reversed(scores.items())}
    assert convex_combination(scores, weights) == convex_combination(turned, weights)


@given(SCORES, WEIGHTS)
def test_convex_stays_between_zero_and_one(scores: Scores, weights: Weights) -> None:
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in convex_combination(scores, weights).values())


@given(SCORES, WEIGHTS, st.sampled_from(NAMES))
def test_a_ranking_of_weight_zero_is_as_if_it_were_not_there(
    scores: Scores, weights: Weights, name: str
) -> None:
    without = convex_combination({**scores, name: {}}, weights)
    assert convex_combination(scores, {**weights, name: 0.0}) == without


@given(SCORES)
def test_one_ranking_alone_keeps_its_scores(scores: Scores) -> None:
    alone = convex_combination(scores, {"graph": 0.0, "keyword": 2.0, "vector": 0.0})
    assert alone == scores["keyword"]


@given(SCORES, WEIGHTS, KEYS)
def test_a_better_score_never_lowers_a_key(scores: Scores, weights: Weights, key: int) -> None:
    before = convex_combination(scores, weights)
    raised = {**scores, "vector": {**scores["vector"], key: 1.0}}
    after = convex_combination(raised, weights)
    if scores["vector"]:  # else the ranking was none, and now takes part in the mean
        assert after.get(key, 0.0) >= before.get(key, 0.0) - 1e-9


def test_equal_scores_stand_by_key() -> None:
    assert best_first({3: 0.5, 1: 0.5, 2: 0.9}) == [2, 1, 3]


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


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(1, 9))))
def test_the_notes_of_one_source_have_their_own_ids(notes: set[tuple[int, int]]) -> None:
    mixed = [global_note(source, note_id) for source, note_id in notes]
    for source in range(4):
        assert local_notes(mixed, source) == {note_id for one, note_id in notes if one == source}
