"""Measures of a ranking against grades, and how sure a mean of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2

import numpy as np
from numpy.typing import NDArray

MEASURES = ("nDCG@5", "nDCG@10", "MRR", "Hit@1", "Recall@10")
OPENS = "Opens@1"
"""The first hit is relevant and is its note's first chunk. NaN where a set does not ask for that."""
RESAMPLES = 2000
RANDOMISATIONS = 4999
_SEED = 20261121


def measured(ranking: Sequence[str], grades: Mapping[str, int]) -> tuple[float, ...]:
    """One value for each of `MEASURES`. The gain of a grade g is 2^g - 1; MRR, Hit and Recall count all
    grades above 0 alike, MRR within the first 10."""
    found = [grades.get(item, 0) for item in ranking[:10]]
    first = next((rank for rank, grade in enumerate(found, start=1) if grade), 0)
    relevant = sum(1 for grade in grades.values() if grade)
    return (
        _ndcg(found, grades, 5),
        _ndcg(found, grades, 10),
        1 / first if first else 0.0,
        float(first == 1),
        sum(1 for grade in found if grade) / min(relevant, 10) if relevant else 0.0,
    )


def _ndcg(found: Sequence[int], grades: Mapping[str, int], depth: int) -> float:
    best = _dcg(sorted(grades.values(), reverse=True)[:depth])
    return _dcg(found[:depth]) / best if best else 0.0


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over queries with its 95% interval (percentile bootstrap)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """The mean of one value a query, or of one difference a query."""
        return cls.of_sets([values])

    @classmethod
    def of_sets(cls, sets: Sequence[Sequence[float]]) -> Mean:
        """The mean over sets of their means; the queries are resampled within each set."""
        data = [np.array(values, np.float64) for values in sets]
        means = np.mean([one[_resampled(len(one), at)].mean(axis=1) for at, one in enumerate(data)], axis=0)
        low, high = np.percentile(means, (2.5, 97.5))
        return cls(float(np.mean([one.mean() for one in data])), float(low), float(high))

    def __str__(self) -> str:
        """As in a table: .712 [.650, .770]"""
        return f"{_short(self.value)} [{_short(self.low)}, {_short(self.high)}]"


def _short(value: float) -> str:
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


@lru_cache(maxsize=8)
def _resampled(size: int, of_set: int) -> NDArray[np.intp]:
    """Positions of values, drawn with replacement: a row for each resample, other rows for each set."""
    return np.random.default_rng([_SEED, of_set]).integers(0, size, (RESAMPLES, size))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean change of a measure over the same queries, with its 95% interval and a p-value.

    `p` is two-sided, of a paired randomisation test: under the null hypothesis each query's change has
    either sign with equal probability (Smucker, Allan and Carterette 2007).
    """

    change: Mean
    p: float

    @classmethod
    def of(cls, old: Sequence[float], new: Sequence[float]) -> PairedDifference:
        """The change from `old` to `new`, one value a query in each, in the same order."""
        return cls.of_sets([old], [new])

    @classmethod
    def of_sets(cls, old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> PairedDifference:
        """The mean over sets of their changes."""
        changes = [np.array(b, np.float64) - np.array(a, np.float64) for a, b in zip(old, new, strict=True)]
        weighted = np.concatenate([one / len(one) for one in changes])
        return cls(Mean.of_sets([one.tolist() for one in changes]), _randomisation_p(weighted))

    def __str__(self) -> str:
        """As in a table: +.012 [+.003, +.021] p .008; a smaller p than .001 is printed as that."""
        low, high = (_signed(value) for value in (self.change.low, self.change.high))
        return f"{_signed(self.change.value)} [{low}, {high}] p {_short(max(self.p, 0.001))}"


def _randomisation_p(changes: NDArray[np.float64]) -> float:
    """A query that does not change adds nothing to any sum, so it is left out."""
    moved = changes[changes != 0]
    if not len(moved):
        return 1.0
    random = np.random.default_rng(_SEED)
    signs = random.integers(0, 2, (RANDOMISATIONS, len(moved)), np.int8) * 2 - 1
    extreme = np.count_nonzero(np.abs(signs @ moved) >= abs(moved.sum()) - 1e-9)
    return float(extreme + 1) / (RANDOMISATIONS + 1)


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + _short(abs(value))
