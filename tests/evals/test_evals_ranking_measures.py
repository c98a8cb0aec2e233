"""Measures and statistics of a ranking, held equal to trec_eval and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_evals.statistics import (
    RESAMPLES,
    SEED,
    Interval,
    each_once,
    holm,
    judged,
    lifts,
    mean_interval,
    ndcg,
    paired_difference,
    randomisation_p,
    recall,
    reciprocal_rank,
    smallest_difference,
)

NOTES = [f"n{number}.md" for number in range(12)]
GRADES = st.dictionaries(st.sampled_from(NOTES), st.integers(0, 2), min_size=1)
RANKINGS = st.permutations(NOTES).flatmap(lambda whole: st.integers(0, 12).map(lambda size: whole[:size]))
HITS = st.lists(st.sampled_from(NOTES), max_size=30)


@given(RANKINGS, GRADES, st.sampled_from([1, 3, 5, 10]))
def test_measures_equal_those_of_trec_eval(ranking: list[str], grades: dict[str, int], k: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator({"q": grades}, {f"ndcg_cut.{k}", f"recall.{k}", "recip_rank"})
    run = {path: float(len(ranking) - at) for at, path in enumerate(ranking[:k])}
    expected = evaluator.evaluate({"q": run}).get("q", {})  # of an empty ranking it says nothing
    assert ndcg(ranking, grades, k) == pytest.approx(expected.get(f"ndcg_cut_{k}", 0.0))
    assert recall(ranking, grades, k) == pytest.approx(expected.get(f"recall_{k}", 0.0))
    assert reciprocal_rank(ranking, grades, k) == pytest.approx(expected.get("recip_rank", 0.0))


@given(HITS, GRADES, st.integers(1, 20))
def test_a_note_counts_once_so_no_measure_exceeds_1(hits: list[str], grades: dict[str, int], k: int) -> None:
    for measure in (ndcg, recall, reciprocal_rank, judged):
        assert 0 <= measure(hits, grades, k) <= 1 + 1e-12
        assert measure(hits, grades, k) == measure(each_once(hits), grades, k)


def test_measures_of_a_ranking_by_hand() -> None:
    ranking, grades = (
        ["x.md", "a.md", "b.md", "c.md"],
        {"a.md": 2, "b.md": 1, "d.md": 1, "x.md": 0, "e.md": -1},
    )
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg(ranking, grades, 3) == pytest.approx((2 / math.log2(3) + 1 / math.log2(4)) / ideal)
    assert ndcg(ranking, grades, 2) == pytest.approx(2 / math.log2(3) / (2 + 1 / math.log2(3)))
    assert ndcg(ranking, grades, 1) == 0
    assert ndcg(["a.md", "e.md"], grades, 2) == pytest.approx(2 / (2 + 1 / math.log2(3)))
    assert [reciprocal_rank(ranking, grades, k) for k in (1, 2, 3)] == [0, 0.5, 0.5]
    assert [recall(ranking, grades, k) for k in (1, 2, 3, 4)] == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3])
    assert [judged(ranking, grades, k) for k in (1, 3, 4, 9)] == pytest.approx([1, 1, 3 / 4, 3 / 4])
    assert judged([], grades, 10) == 1.0
    nothing = {"a.md": 0}
    assert (ndcg(ranking, nothing, 3), recall(ranking, nothing, 3)) == (0, 0)
    assert reciprocal_rank(ranking, nothing, 3) == 0
    assert each_once(["b.md", "a.md", "b.md"]) == ["b.md", "a.md"]


VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(VALUES)
def test_the_interval_equals_that_of_scipy_with_the_same_resamples(values: list[float]) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    mine = mean_interval(values)
    theirs = scipy_stats.bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=RESAMPLES,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high))
    assert mine.low <= mine.mean + 1e-12
    assert mine == mean_interval(values)


@given(st.lists(st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6), min_size=2, max_size=10))
def test_the_exact_randomisation_test_equals_that_of_scipy(differences: list[float]) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    theirs = scipy_stats.permutation_test(
        (np.array(differences),),
        lambda sample, axis: np.abs(np.sum(sample, axis=axis)),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative="greater",
        vectorized=True,
    ).pvalue
    assert randomisation_p(differences) == pytest.approx(theirs)


def test_the_random_one_comes_near_the_paired_t_test() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(5).normal(0.05, 0.2, 120)
    theirs = scipy_stats.ttest_1samp(differences, 0).pvalue
    assert randomisation_p(list(differences)) == pytest.approx(theirs, abs=0.01)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([0.5], 1.0),
        ([0.5, 0.0, 0.5], 0.5),
        ([0.1] * 5, 2 / 32),
        ([0.1, 0.1, -0.1], 1.0),
        ([0.1] * 13, 2 / 2**13),
        ([0.1] * 14, 2 / 10_000),
    ],
)
def test_a_p_value_counts_the_signs_that_are_as_extreme(differences: list[float], p: float) -> None:
    assert randomisation_p(differences) == pytest.approx(p, abs=0 if len(differences) < 14 else 3e-4)
    assert randomisation_p([-one for one in differences]) == randomisation_p(differences)


def test_the_smallest_difference_by_hand() -> None:
    """The deviation of 0 and 2 is the square root of 2: that of a sample, and two questions."""
    assert smallest_difference([0.0, 2.0]) == pytest.approx(1.959964 + 0.841621, abs=1e-5)
    assert smallest_difference([0.0, 2.0], 5) == pytest.approx(2.575829 + 0.841621, abs=1e-5)
    assert smallest_difference([0.0, 2.0], 0) == smallest_difference([0.0, 2.0], 1)
    assert [smallest_difference(nothing) for nothing in ([], [0.5], [0.0] * 3)] == [None] * 3, (
        "nothing varies"
    )


def test_a_mean_needs_a_question_and_a_difference_the_same_ones() -> None:
    assert mean_interval([0.25]) == Interval(0.25, 0.25, 0.25)
    with pytest.raises(ValueError, match="no questions"):
        mean_interval([])
    with pytest.raises(ValueError, match="2 values against 1: not the same questions"):
        paired_difference([1.0, 0.5], [1.0])


@pytest.mark.parametrize(
    ("other", "min_percent", "passes", "reason"),
    [
        ([0.625] * 6, 20, True, "the lower bound +25.0% reaches +20%"),
        ([0.625] * 6, 25, False, "p 1.000 after Holm's correction is above 0.05"),
        ([0.6] * 6, 20.5, False, "the lower bound +20.0% is below +20.5%"),
        ([0.6] * 5 + [0.5], 0, False, "p 0.062 after Holm's correction is above 0.05"),
        ([0.4] * 6, -30, True, "the lower bound -20.0% reaches -30%"),
        # The mean is 17% better.
        ([1.0, 0.0] * 5 + [1.0] * 2, 5, False, "the lower bound -50.0% is below +5%"),
    ],
)
def test_a_lift_says_why(other: list[float], min_percent: float, passes: bool, reason: str) -> None:
    found = lifts([0.5] * len(other), {"other": other}, min_percent)["other"]
    assert (found.passes, found.reason) == (passes, reason)
    assert found.percent is not None
    assert found.percent.mean == pytest.approx((sum(other) / len(other) / 0.5 - 1) * 100)


def test_holm_multiplies_by_what_is_left_and_never_falls() -> None:
    # Holm (1979): .01, .04, .03, .005 become .03, .06, .06, .02.
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_questions_are_paired() -> None:
    """Two configurations a constant apart differ for certain, however much questions differ in difficulty."""
    baseline = [0.0, 1.0, 0.0, 1.0, 0.5, 0.5]
    other = [value + 0.1 for value in baseline]
    difference = paired_difference(baseline, other)
    assert (difference.low, difference.high) == pytest.approx((0.1, 0.1))


def test_the_gate_corrects_for_the_number_of_configurations() -> None:
    baseline = [0.5] * 6
    better = [0.6] * 6  # six of six: p is .031
    alone = lifts(baseline, {"one": better}, min_percent=0)
    assert alone["one"].passes
    assert alone["one"].p == pytest.approx(2 / 64)
    many = lifts(baseline, {"one": better} | {f"same {at}": baseline for at in range(3)}, min_percent=0)
    assert many["one"].p == pytest.approx(8 / 64)
    assert not many["one"].passes
    assert "Holm" in many["one"].reason


def test_a_baseline_of_zero_lets_nothing_pass_and_divides_by_nothing() -> None:
    found = lifts([0.0] * 8, {"zero": [0.0] * 8, "good": [1.0] * 8}, min_percent=5)
    assert not any(one.passes for one in found.values())
    assert all(one.percent is None and "baseline is 0" in one.reason for one in found.values())
