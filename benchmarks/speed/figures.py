"""Times as figures: percentiles, and Markdown tables of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_KIB_PER_MIB = 1024


@dataclass(frozen=True, slots=True)
class Times:
    """Latencies in milliseconds, ascending."""

    ms: tuple[float, ...]

    @classmethod
    def of(cls, ms: Iterable[float]) -> Times:
        """From latencies in any order."""
        return cls(tuple(sorted(ms)))

    def at(self, share: float) -> float:
        """The nearest-rank percentile: a time that was measured, never one between two. NaN for no times."""
        if not self.ms:
            return math.nan
        return self.ms[max(0, math.ceil(share * len(self.ms)) - 1)]

    @property
    def p50(self) -> float:
        """The median."""
        return self.at(0.5)

    @property
    def p95(self) -> float:
        """19 of 20 are no slower."""
        return self.at(0.95)

    @property
    def p99(self) -> float:
        """99 of 100 are no slower."""
        return self.at(0.99)


NO_TIMES = Times(())


def clocked(work: Callable[[], T]) -> tuple[float, T]:
    """How many milliseconds the work took, and what it gave."""
    started = time.perf_counter()
    given = work()
    return (time.perf_counter() - started) * 1000, given


def shown(ms: float) -> str:
    """Milliseconds with about three digits; a dash where nothing was measured."""
    if math.isnan(ms):
        return "–"
    if ms < 0.1:
        return f"{ms:.4f}"
    return f"{ms:.2f}" if ms < 10 else f"{ms:.1f}" if ms < 100 else f"{ms:,.0f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def resident_mb(pid: int, kind: str = "VmRSS") -> float:
    """Resident memory of a process in MiB; NaN where the system has no /proc or the process is gone.

    `kind` is a line of /proc/PID/status: with RssAnon, pages of mapped files are left out."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", errors="replace").splitlines()
    except OSError:
        return math.nan
    found = [line.split()[1] for line in lines if line.startswith(f"{kind}:")]
    return int(found[0]) / _KIB_PER_MIB if found else math.nan


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that live; none where the system has no /proc."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text("ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if int(after_name[1]) == pid:
            found.append(int(stat.parent.name))
    return sorted(found)
