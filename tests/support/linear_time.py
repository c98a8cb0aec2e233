"""Time linear in the size of an input: four times of it may take no more than about four times as long."""

import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

GROWTH = 9.0
"""Generous: quadratic growth is sixteenfold. No absolute time is asserted."""
NOISE_S = 0.03
TRIES = 4
"""Other processes fill the caches, which costs processor time too; quadratic time fails every try."""


def seconds(work: Callable[[Input], object], given: Input) -> float:
    start = time.process_time()
    work(given)
    return time.process_time() - start


def check_linear(work: Callable[[Input], object], small: Input, large: Input) -> None:
    """Fail if the large input, four times the small one, takes much more than four times as long."""
    for _ in range(TRIES):
        few, many = min(seconds(work, small) for _ in range(2)), seconds(work, large)
        if many <= GROWTH * few + NOISE_S:
            return
    raise AssertionError(f"{few:.4f} s, then {many:.4f} s")
