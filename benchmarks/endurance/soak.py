"""A day's edits in minutes: whether memory, open files and the index's size stay what they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from endurance.editing import Editor, editing
from endurance.ground import Figure, daemon, figure, size_on_disk
from endurance.people import people
from endurance.processes import Family, family
from speed.figures import table
from speed.material import Material
from speed.questions import from_notes
from speed.sides import await_ready

TARGET_MB = 10.0
"""Per 1,000 edits, after the warm-up."""

_QUICK = {"INDEXER_WATCH_DEBOUNCE_S": "0.05"}
"""Else many saves become one commit, and a day would have few."""

_WARM_UP = 1 / 3
_SAMPLES = 60
_ROWS = 10
_SETTLE_S = 300.0


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many edits."""

    edits: int
    family: Family
    disk: int
    seq: int


def soak(ground: Material, edits: int, minutes: float) -> list[Figure]:
    """So many edits in so many minutes, while a person searches."""
    with ground.catalog() as catalog:
        queries = from_notes(catalog, 100)
    editor = Editor(ground.vault, seed=2)
    try:
        with daemon(ground, _QUICK) as running:
            _, _, first_seq = running.side.state()
            samples: list[Sample] = []

            def take() -> None:
                seq = running.side.state()[2] - first_seq
                now = family(running.pid)
                samples.append(Sample(editor.done, now, size_on_disk(ground.index_dir), seq))

            take()
            rate = edits / (minutes * 60)
            with people(running, queries, 1), editing(editor, rate, edits) as ended:
                while not ended.wait(minutes * 60 / _SAMPLES):
                    take()
            time.sleep(1)
            await_ready(running.side, _SETTLE_S)
            take()
    finally:
        editor.restore()
    print(_course(samples), file=sys.stderr, flush=True)
    return _judged(samples)


def _judged(samples: Sequence[Sample]) -> list[Figure]:
    last = samples[-1]
    warm = [sample for sample in samples if sample.edits >= _WARM_UP * last.edits]
    slope = slope_of([(one.edits / 1000, one.family.daemon_mb + one.family.others_mb) for one in warm])
    own = slope_of([(one.edits / 1000, one.family.daemon_mb) for one in warm])
    anonymous = slope_of([(one.edits / 1000, one.family.anonymous_mb) for one in warm])
    files = [sample.family.files for sample in warm]
    disk = [sample.disk / 1e6 for sample in samples]
    what = f"soak of {last.edits:,} edits, {last.seq:,} commits"
    return [
        figure(
            f"{what}: memory after the first third",
            f"{slope:+.1f} MB per 1,000 edits, of which the daemon itself {own:+.1f}"
            f" ({anonymous:+.1f} without mapped files); at the end {last.family.daemon_mb:.0f} MB and"
            f" {last.family.others_mb:.0f} MB in its {last.family.processes - 1} processes",
            f"{TARGET_MB:.0f} MB per 1,000 edits",
        ),
        figure(f"{what}: open files", f"{min(files)} to {max(files)}, {files[-1]} at the end", "no growth"),
        figure(
            f"{what}: index on disk",
            f"{disk[0]:.0f} MB before, at most {max(disk):.0f}, {disk[-1]:.0f} after",
        ),
    ]


def slope_of(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line with the least squares of distances."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def _course(samples: Sequence[Sample]) -> str:
    step = max(1, len(samples) // _ROWS)
    rows = [
        (
            f"{one.edits:,}",
            f"{one.seq:,}",
            f"{one.family.daemon_mb:.0f}",
            f"{one.family.anonymous_mb:.0f}",
            f"{one.family.others_mb:.0f}",
            str(one.family.files),
            f"{one.disk / 1e6:.0f}",
        )
        for one in [*samples[:-1:step], samples[-1]]
    ]
    return table(
        (
            "edits",
            "commits",
            "daemon, MB",
            "without mapped files",
            "its processes, MB",
            "open files",
            "index, MB",
        ),
        rows,
    )
