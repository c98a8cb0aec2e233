"""The processes that another one has started, as Linux's /proc lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def processes_below(pid: int) -> Iterator[int]:
    """Parents first. A thread or a process that ends meanwhile has none."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:  # the thread has ended since the folder was listed
            continue
        for child in map(int, children):
            yield child
            yield from processes_below(child)
