"""The memory that is available to this process, from the machine and from its control group (a container).

The files are those of Linux: proc(5), and cgroup-v1/memory.rst and cgroup-v2.rst of the kernel's
documentation.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ctypes

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")

_NO_LIMIT = 1 << 60
"""In cgroup v1, a number above this means that there is no limit."""


class GroupMemory(NamedTuple):
    """The limit of a control group and the usage of its processes in bytes, without cached files that the
    system may drop."""

    limit: int
    used: int


class _Names(NamedTuple):
    limit: str
    usage: str
    droppable: str


_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names("memory.max", "memory.current", "inactive_file")


def memory_limit(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """Returns the lowest limit of the control groups of this process in bytes; None if there is none."""
    return min((group.limit for group in _groups(proc, groups)), default=None)


def free_memory(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """Returns the bytes that this process can allocate before the system kills processes, without swap; None
    if the system does not report them."""
    free = [max(0, group.limit - group.used) for group in _groups(proc, groups)]
    of_machine = _number_behind("MemAvailable:", proc / "meminfo")
    if of_machine is not None:
        free.append(1024 * of_machine)
    return min(free, default=None)


def _groups(proc: Path, groups: Path) -> Iterator[GroupMemory]:
    """The groups with a limit, from that of this process up. In a container the path in `/proc` may be that
    of the machine, which does not exist here: the group is then the root that the container sees."""
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


def c_function(name: str) -> ctypes._NamedFuncPointer | None:
    """Returns a function of Linux' C library, or None if it does not have it."""
    if sys.platform != "linux":
        return None
    import ctypes  # 3 ms that a search through the daemon does not need

    return getattr(ctypes.CDLL(None), name, None)


# The numbers of the settings in glibc, the only C library that needs others.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

_ARENAS = 2
_LARGE_BYTES = 4 << 20
_SPARE_BYTES = 32 << 20


def limit_malloc_arenas() -> None:
    """Must be called before threads are started. Otherwise each answering thread has its own arena, which
    retains freed memory: a daemon that had answered 16 clients at once occupied twice the memory it used.

    Large arrays get pages of their own, which are returned when they are freed. Otherwise the first one freed
    raises the threshold, the next are in the heap, and an array that grows by a few rows with every edit (the
    delta of the vectors) leaves a hole each time, into which the next does not fit.
    """
    mallopt = c_function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _SPARE_BYTES)


def trim_heap() -> None:
    """Returns free pages to the system after a large object was freed."""
    trim = c_function("malloc_trim")
    if trim is not None:
        trim(0)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disables the cyclic garbage collector. A block that allocates a million long-lived, acyclic objects
    otherwise spends a third of its time in it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_PAGE = 2 << 20
_MADV_HUGEPAGE = 14
_MADV_COLLAPSE = 25  # since Linux 6.1; older ones do it by and by


def back_by_huge_pages(address: int, size: int) -> bool:
    """Advises the system to use large pages for an array. Returns whether it accepted the advice for the
    whole large pages in this range.

    A search by meaning passes over all vectors. On Linux' small pages that is bound by address translation:
    with 84,460 vectors out of the processor's cache it took 7.6 ms, on pages of 2 MiB 4.3 ms.
    """
    import ctypes

    start = -(-address // _PAGE) * _PAGE
    length = (address + size) // _PAGE * _PAGE - start
    madvise = c_function("madvise")
    if length <= 0 or madvise is None:
        return False
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if madvise(start, length, _MADV_HUGEPAGE):
        return False
    madvise(start, length, _MADV_COLLAPSE)
    return True


NEEDED_FILES = 128
"""A daemon of one vault holds 24 open files when it is idle, and up to 91 under edits and searches."""

_ENOUGH_FILES = 4096
"""For many vaults; a process asks for this number where its limit is lower and may be raised."""

NEEDED_MB = 1024
"""Address space. With 173 notes a daemon takes 618 MB of it, of which 190 MB are in memory; each thread that
answers takes 8 MB more."""

NEEDED_MEMORY_MB = 300
"""Of a container. With 173 notes a daemon and its worker do with 320 MB; with 256 the system ends the worker
again and again (a control group of Linux, 2026-11-25)."""


def missing_limits(memory_limit: Callable[[], int | None] = memory_limit) -> str:
    """One line about a limit of this process that is too low for a daemon; "" if there is none. The daemon
    would fail later, in places that cannot report the reason. Raises the limit of open files first."""
    if sys.platform == "win32":  # it has no such limits
        return ""
    import resource

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _ENOUGH_FILES:
        files = _ENOUGH_FILES if most == resource.RLIM_INFINITY else min(most, _ENOUGH_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
        if files < NEEDED_FILES:
            return f"the daemon needs {NEEDED_FILES} open files, and has {files}: raise `ulimit -n`"
    size = resource.getrlimit(resource.RLIMIT_AS)[0]
    if size != resource.RLIM_INFINITY and size < NEEDED_MB * 1024**2:
        allowed = size // 1024**2
        return f"the daemon needs {NEEDED_MB} MB of address space, and has {allowed}: raise `ulimit -v`"
    of_container = memory_limit()
    if of_container is not None and of_container < NEEDED_MEMORY_MB * 1024**2:
        allowed = of_container // 1024**2
        return f"the daemon needs {NEEDED_MEMORY_MB} MB of memory, and its container has {allowed}"
    return ""
