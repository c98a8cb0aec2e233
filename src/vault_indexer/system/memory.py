"""Memory that this process may still take: of the machine, and of the control group (a container) it is in.

The files are those of Linux: proc(5), and cgroup-v1/memory.rst and cgroup-v2.rst of the kernel's
documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")

_NO_LIMIT = 1 << 60
"""The first version says that there is none by a number above this."""


class GroupMemory(NamedTuple):
    """The limit of a control group, and what its processes take, without the files that the system may drop;
    both in bytes."""

    limit: int
    used: int


class _Names(NamedTuple):
    limit: str
    usage: str
    droppable: str


_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names("memory.max", "memory.current", "inactive_file")


def memory_limit(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """The least limit of the control groups of this process, in bytes; None where there is none."""
    return min((group.limit for group in _groups(proc, groups)), default=None)


def free_memory(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """What this process can take before the system ends processes, in bytes, without swap; None where the
    system does not tell."""
    free = [max(0, group.limit - group.used) for group in _groups(proc, groups)]
    of_machine = _number_behind("MemAvailable:", proc / "meminfo")
    if of_machine is not None:
        free.append(1024 * of_machine)
    return min(free, default=None)


def _groups(proc: Path, groups: Path) -> Iterator[GroupMemory]:
    """The groups with a limit, from that of this process up. In a container the path in `/proc` may be one of
    the machine, which is not there: then the group is the root that the container sees."""
    for line in _text(proc / "self" / "cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        is_v1 = "memory" in controllers.split(",")
        if controllers and not is_v1:
            continue
        root, names = (groups / "memory", _V1) if is_v1 else (groups, _V2)
        folder = root / path.strip("/")
        for one in (folder, *folder.parents) if folder.is_dir() else (root,):
            if (found := _group(one, names)) is not None:
                yield found
            if one == root:
                break


def _group(folder: Path, names: _Names) -> GroupMemory | None:
    limit, usage = (_text(folder / name).strip() for name in (names.limit, names.usage))
    if not (limit.isdecimal() and usage.isdecimal()) or int(limit) > _NO_LIMIT:  # missing, or "max"
        return None
    droppable = _number_behind(names.droppable, folder / "memory.stat") or 0
    return GroupMemory(int(limit), max(0, int(usage) - droppable))


def _number_behind(name: str, file: Path) -> int | None:
    rows = (line.split() for line in _text(file).splitlines())
    return next((int(row[1]) for row in rows if len(row) > 1 and row[0] == name), None)


def _text(file: Path) -> str:
    try:
        return file.read_text("ascii", errors="replace")
    except OSError:
        return ""
