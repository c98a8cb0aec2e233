"""How well a score tells answerable from unanswerable questions, and a combination of several scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_RESAMPLES = 500
_SEED = 20261122
_STEPS = 200
_RIDGE = 1e-3


def auroc(answerable: Floats, unanswerable: Floats) -> float:
    """The probability that an answerable question scores above an unanswerable one; a tie counts half."""
    ordered = np.sort(unanswerable)
    below = np.searchsorted(ordered, answerable, "left")
    not_above = np.searchsorted(ordered, answerable, "right")
    return float((below + not_above).mean() / 2 / len(unanswerable))


def auroc_interval(answerable: Floats, unanswerable: Floats) -> tuple[float, float]:
    """The 95% percentile bootstrap interval, both lists resampled."""
    random = np.random.default_rng(_SEED)
    found = [
        auroc(random.choice(answerable, len(answerable)), random.choice(unanswerable, len(unanswerable)))
        for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(found, (2.5, 97.5))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over standardised features."""

    mean: Floats
    deviation: Floats
    weights: Floats

    @classmethod
    def fit(cls, features: Floats, labels: Floats, importance: Floats) -> Logistic:
        """By Newton's method with a small ridge. Shapes (n, features), (n,) and (n,)."""
        mean, deviation = features.mean(axis=0), features.std(axis=0) + 1e-9
        design = np.column_stack([np.ones(len(features)), (features - mean) / deviation])
        weights = np.zeros(design.shape[1])
        ridge = np.eye(len(weights)) * _RIDGE * importance.sum()
        for _ in range(_STEPS):
            chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
            gradient = design.T @ (importance * (labels - chance)) - ridge @ weights
            curvature = (design * (importance * chance * (1 - chance))[:, None]).T @ design + ridge
            step = np.linalg.solve(curvature, gradient)
            weights = weights + step
            if np.abs(step).max() < 1e-8:
                break
        return cls(mean, deviation, weights)

    def scores(self, features: Floats) -> Floats:
        """The log odds of each row."""
        found: Floats = self.weights[0] + (features - self.mean) / self.deviation @ self.weights[1:]
        return found
