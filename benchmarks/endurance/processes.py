"""The memory and open files of a daemon with all processes it has started (Linux)."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from speed.figures import children_of, resident_mb


@dataclass(frozen=True, slots=True)
class Family:
    """Resident MiB of the daemon and, together, of its workers, its builder and the builder's workers;
    pages that processes share count for each. `anonymous_mb` is what the daemon has without the pages of
    mapped files, which the system takes back when it needs them. `files` are open descriptors of all."""

    daemon_mb: float
    anonymous_mb: float
    others_mb: float
    processes: int
    files: int


def family(pid: int) -> Family:
    """As it is at this moment; a process that ends meanwhile counts nothing."""
    others = _descendants(pid)
    sizes = [size for size in map(resident_mb, others) if not math.isnan(size)]
    files = sum(map(_open_files, [pid, *others]))
    return Family(resident_mb(pid), resident_mb(pid, "RssAnon"), sum(sizes), 1 + len(sizes), files)


def processor_s(pid: int) -> float:
    """Processor seconds of the daemon and all it has started so far: on a machine that others use, too, they
    tell more than the clock. What the workers of an ended builder took is counted by nobody."""
    ticks = sum(sum(map(int, _stat(one)[11:15])) for one in [pid, *_descendants(pid)])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields after the name: from the third on, as `man proc` counts. Those of no process are empty."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for child in children_of(pid):
        found += [child, *_descendants(child)]
    return found


def _open_files(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0
