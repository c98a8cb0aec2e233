"""Measures of a ranking against grades, and how sure a mean of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vault_evals.statistics import ndcg, randomisation_p, recall, reciprocal_rank

MEASURES = ("nDCG@5", "nDCG@10", "MRR", "Hit@1", "Recall@10")
OPENS = "Opens@1"
"""The first hit is relevant and is its note's first chunk. NaN where a set does not ask for that."""
RESAMPLES = 2000
_SEED = 20261121


def measured(ranking: Sequence[str], grades: Mapping[str, int]) -> tuple[float, ...]:
    """One value for each of `MEASURES`, as `indexer eval rank` defines them: a grade is its own gain."""
    return (
        ndcg(ranking, grades, 5),
        ndcg(ranking, grades, 10),
        reciprocal_rank(ranking, grades, 10),
        float(bool(ranking) and grades.get(ranking[0], 0) > 0),
        recall(ranking, grades, 10),
    )


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
        return cls(Mean.of_sets([one.tolist() for one in changes]), randomisation_p(weighted.tolist()))

    def __str__(self) -> str:
        """As in a table: +.012 [+.003, +.021] p .008; a smaller p than .001 is printed as that."""
        low, high = (_signed(value) for value in (self.change.low, self.change.high))
        return f"{_signed(self.change.value)} [{low}, {high}] p {_short(max(self.p, 0.001))}"


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + _short(abs(value))
