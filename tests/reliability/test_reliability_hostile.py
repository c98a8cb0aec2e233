"""Notes of up to 5 MB that are made to cost much: none takes more than its share of time and memory.

The full size runs each note whole, within what an index may spend on one. The small size has no bound that
depends on a machine: it compares a note with one of a quarter of the length.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_child import Cost
from hostile_notes import HOSTILE
from reliability_lab import FULL, sized

pytestmark = pytest.mark.slow

SIZE = 4_900_000
SECONDS = 30.0
PEAK_MB = 700.0

SMALL = sized(150_000, 400_000)
GROWTH = 8.0
NOISE_S = 0.3
TIMEOUT_S = 3600
EXPLAINED = ("too large", "not UTF-8", "binary")

CHILD = Path(__file__).with_name("hostile_child.py")


def costs(size: int, folder: Path, names: list[str]) -> list[Cost]:
    """What each note costs, run by a process that loads everything once."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(CHILD), str(size), str(folder), *names],
        env={**os.environ, "HOSTILE_LIMIT_S": "120"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [Cost(**json.loads(line)) for line in done.stdout.splitlines()]
    assert [cost.name for cost in found] == names, done.stderr
    return found


def named(cost: Cost) -> str:
    return f"{cost.name}: {cost.seconds:.1f} s, {cost.peak_mb:.0f} MB, {cost.chunks} chunks {cost.outcome}"


def test_there_are_many_families() -> None:
    assert len(HOSTILE) >= 80
    assert all(len(make(20_000)) <= 26_000 for make in HOSTILE.values())


def test_no_note_takes_more_than_four_times_as_long_as_a_quarter_of_it(tmp_path: Path) -> None:
    every = costs(SMALL, tmp_path / "whole", list(HOSTILE))
    assert [named(cost) for cost in every if cost.outcome] == []
    large = [cost for cost in every if cost.seconds > NOISE_S]  # the others pass whatever a quarter costs
    small = costs(SMALL // 4, tmp_path / "quarter", [cost.name for cost in large])
    grown = [
        f"{named(one)}, of a quarter {quarter.seconds:.1f} s"
        for quarter, one in zip(small, large, strict=True)
        if quarter.outcome or one.seconds > GROWTH * quarter.seconds + NOISE_S
    ]
    assert grown == []


@pytest.mark.skipif(not FULL, reason="SLOW_SIZE=full runs the notes at their full length")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_note_of_5_mb_keeps_within_what_one_may_cost(name: str, tmp_path: Path) -> None:
    (cost,) = costs(SIZE, tmp_path / "vault", [name])
    assert cost.outcome.startswith(EXPLAINED) or not cost.outcome, named(cost)
    assert cost.seconds < SECONDS, named(cost)
    assert cost.peak_mb < PEAK_MB, named(cost)
