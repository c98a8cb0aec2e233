"""The uncertainty of a mean over questions, and the significance of differences between configurations.

Every function is deterministic: the resamples come from a fixed seed. Questions are the unit of resampling.
Two configurations are compared over the same questions, so their differences are resampled, not their means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vault_indexer.system import record

Floats = NDArray[np.float64]

RESAMPLES = 1000
RANDOMISATIONS = 9999
LEVEL = 0.05
"""An interval contains 1 - LEVEL of the resampled means; a difference is significant up to this p-value."""

POWER = 0.8
SEED = 20261122


@record
class Interval:
    """A mean with its 95% percentile bootstrap interval."""

    mean: float
    low: float
    high: float


@record
class Lift:
    """The lift of a configuration above a baseline, in percent of the baseline's mean; paired by question.

    `p` is adjusted by Holm over all compared configurations. `passes` means that the lower bound is at least
    the required lift, and significantly so; it does not depend on the mean alone.
    """

    percent: Interval | None
    p: float
    passes: bool
    reason: str


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean of one value per question. Raises ValueError if there is none."""
    data = _floats(values)
    low, high = np.percentile(_resampled_means(data), (100 * LEVEL / 2, 100 * (1 - LEVEL / 2)))
    return Interval(float(data.mean()), float(low), float(high))


def paired_difference(baseline: Sequence[float], other: Sequence[float]) -> Interval:
    """The mean of `other - baseline`, question by question. Raises ValueError if their lengths differ."""
    return mean_interval(list(_differences(baseline, other)))


def randomisation_p(differences: Sequence[float]) -> float:
    """The two-sided p-value of a paired randomisation test: both signs of a difference are equally likely.

    For up to 13 nonzero differences, all assignments of signs are tried, and the value is exact; otherwise it
    is estimated from random ones (Smucker, Allan and Carterette 2007).
    """
    data = np.array([value for value in differences if value != 0], np.float64)
    if not len(data):
        return 1.0
    # Slightly less, so that an equal sum counts even if it is rounded differently.
    observed = abs(data.sum()) - 1e-9
    if len(data) <= _EXACT:
        # Each number below 2^n is one assignment: its bits are the signs.
        signs = 1 - 2 * ((np.arange(2 ** len(data))[:, None] >> np.arange(len(data))) & 1)
        return float(np.mean(np.abs(signs @ data) >= observed))
    random = np.random.default_rng(SEED)
    signs = random.integers(0, 2, (RANDOMISATIONS, len(data)), np.int8) * 2 - 1
    extreme = np.count_nonzero(np.abs(signs @ data) >= observed)
    # The observed assignment is one of the possible ones, so p is never 0.
    return float(extreme + 1) / (RANDOMISATIONS + 1)


_EXACT = 13


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """The p-values adjusted for multiple comparisons (Holm 1979), by the same names."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for at, name in enumerate(sorted(p_values, key=lambda one: (p_values[one], one))):
        highest = max(highest, min(1.0, (len(p_values) - at) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def smallest_difference(differences: Sequence[float], comparisons: int = 1) -> float | None:
    """The smallest true difference that this number of questions shows with a power of 80% at p 0.05,
    two-sided.

    It follows from the spread of the differences: (z(1 - a/2) + z(0.8)) * s / sqrt(n), where a is 0.05 over
    the number of comparisons. None if that cannot be computed: fewer than two questions, or differences that
    are all equal.
    """
    if len(differences) < 2:
        return None
    deviation = float(np.std(_floats(differences), ddof=1))
    if deviation == 0:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / 2 / max(comparisons, 1)) + normal.inv_cdf(POWER)
    return reach * deviation / sqrt(len(differences))


def lifts(
    baseline: Sequence[float], others: Mapping[str, Sequence[float]], min_percent: float
) -> dict[str, Lift]:
    """Tests each configuration against the baseline: is it at least `min_percent` percent better?

    The test uses `other - (1 + min_percent / 100) * baseline`, question by question, so a bound of the lift
    is a bound of that difference. A baseline with mean 0 has no percentage: nothing passes.
    """
    base = _floats(baseline)
    mean = float(base.mean())
    wanted = {name: _differences((1 + min_percent / 100) * base, values) for name, values in others.items()}
    p_values = holm({name: randomisation_p(list(one)) for name, one in wanted.items()})
    return {
        name: _lift(mean, paired_difference(baseline, values), p_values[name], min_percent)
        for name, values in others.items()
    }


def _lift(baseline: float, difference: Interval, p: float, min_percent: float) -> Lift:
    if baseline == 0:
        return Lift(None, p, passes=False, reason="the baseline is 0, so there is no percentage")
    share = 100 / baseline
    percent = Interval(share * difference.mean, share * difference.low, share * difference.high)
    reaches = percent.low >= min_percent
    reason = f"the lower bound {percent.low:+.1f}% {'reaches' if reaches else 'is below'} {min_percent:+g}%"
    if reaches and p > LEVEL:
        reason = f"p {p:.3f} after Holm's correction is above {LEVEL:g}"
    return Lift(percent, p, passes=reaches and p <= LEVEL, reason=reason)


def _differences(baseline: Sequence[float] | Floats, other: Sequence[float]) -> Floats:
    if len(baseline) != len(other):
        raise ValueError(f"{len(baseline)} values against {len(other)}: not the same questions")
    return _floats(other) - _floats(baseline)


def _floats(values: Sequence[float] | Floats) -> Floats:
    if not len(values):
        raise ValueError("no questions")
    return np.asarray(values, np.float64)


def _resampled_means(data: Floats) -> Floats:
    at = np.random.default_rng(SEED).integers(0, len(data), (RESAMPLES, len(data)))
    return np.asarray(data[at].mean(axis=1), np.float64)


Grades = Mapping[str, int]


def each_once(paths: Iterable[str]) -> list[str]:
    """The notes in order, each only at its first position.

    A note with several hits would otherwise be counted several times, and nDCG could exceed 1.
    """
    return list(dict.fromkeys(paths))


def ndcg(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """Normalised discounted cumulative gain at `k`, in [0, 1]; 0 if nothing is relevant."""
    ideal = _dcg(sorted(grades.values(), reverse=True)[:k])
    found = [grades.get(path, 0) for path in each_once(ranking)[:k]]
    return _dcg(found) / ideal if ideal else 0.0


def reciprocal_rank(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """1 / the rank of the first relevant note among the first `k`; 0 if there is none."""
    for rank, path in enumerate(each_once(ranking)[:k], start=1):
        if grades.get(path, 0) > 0:
            return 1 / rank
    return 0.0


def recall(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """The share of all relevant notes that are among the first `k`; 0 if nothing is relevant."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    if not relevant:
        return 0.0
    return len(relevant.intersection(each_once(ranking)[:k])) / len(relevant)


def judged(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """The share of the first `k` notes with a grade, including 0; 1 for an empty ranking.

    If it is low, other measures are unreliable: a note without a grade counts as not relevant.
    """
    first = each_once(ranking)[:k]
    return sum(path in grades for path in first) / len(first) if first else 1.0


def _dcg(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))
