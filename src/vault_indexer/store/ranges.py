"""Ranges of positions, all at once: a note is a range of chunk keys in every store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vault_indexer.arrays import Mask, Positions


def spread_ranges(
    firsts: Positions, ends: Positions, limit: int = sys.maxsize
) -> tuple[Positions, Positions]:
    """The numbers of all ranges (`firsts` inclusive, `ends` exclusive) in a row, each with the number of its
    range; of a range that is longer than `limit` so many of its numbers, spread evenly."""
    lengths = ends - firsts
    taken = np.minimum(lengths, limit)
    owners = np.repeat(np.arange(len(firsts)), taken)
    within = np.arange(len(owners)) - np.repeat(taken.cumsum() - taken, taken)
    return owners, firsts[owners] + within * lengths[owners] // taken[owners]


def first_of_each(ordered: NDArray[np.integer]) -> Mask:
    """Of ascending numbers, which ones stand there for the first time."""
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first
