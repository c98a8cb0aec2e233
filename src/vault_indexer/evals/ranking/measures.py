"""Measures of a ranking against grades, as trec_eval defines them.

A grade is 0 or more and is itself the gain. A ranking is a list of notes; `each_once` makes one of hits. The
development tests hold these functions equal to `pytrec_eval`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

Grades = Mapping[str, int]


def each_once(paths: Iterable[str]) -> list[str]:
    """The notes in order, each at its first place only.

    A note with several hits would otherwise be counted as often, and nDCG could exceed 1.
    """
    return list(dict.fromkeys(paths))


def ndcg(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """Normalised discounted cumulative gain at `k`, in [0, 1]; 0 where nothing is relevant."""
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
    """The share of all relevant notes that are among the first `k`; 0 where nothing is relevant."""
    relevant = {path for path, grade in grades.items() if grade > 0}
    if not relevant:
        return 0.0
    return len(relevant.intersection(each_once(ranking)[:k])) / len(relevant)


def judged(ranking: Iterable[str], grades: Grades, k: int) -> float:
    """The share of the first `k` notes that have a grade, 0 included; 1 for an empty ranking.

    Where it is low, other measures say little: a note without a grade counts as not relevant.
    """
    first = each_once(ranking)[:k]
    return sum(path in grades for path in first) / len(first) if first else 1.0


def _dcg(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, start=1))
