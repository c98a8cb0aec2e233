"""The most memory that a process and all it has started hold at one moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from speed.figures import children_of, resident_mb

_LOOK_S = 0.25
_KIB_PER_MIB = 1024


class Peak:
    """`mb` is the largest sum so far, in MiB. A page that several processes share counts once."""

    def __init__(self) -> None:
        self.mb = 0.0

    def look(self, pid: int) -> None:
        """Measure now."""
        self.mb = max(self.mb, sum(map(_share_mb, [pid, *_descendants(pid)])))


@contextmanager
def watched(pid: int) -> Iterator[Peak]:
    """Look at a process four times a second until the block ends."""
    peak, stop = Peak(), threading.Event()

    def work() -> None:
        while not stop.wait(_LOOK_S):
            peak.look(pid)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()


def _share_mb(pid: int) -> float:
    """The proportional set size of a process; its resident set where the system does not tell that."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii", errors="replace").splitlines()
    except OSError:
        size = resident_mb(pid)
        return size if size > 0 else 0.0  # it may have ended
    return next((int(line.split()[1]) / _KIB_PER_MIB for line in lines if line.startswith("Pss:")), 0.0)


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for child in children_of(pid):
        found += [child, *_descendants(child)]
    return found
