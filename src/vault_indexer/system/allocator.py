"""What the C library does with memory that was freed. Only glibc is told anything; others need not be."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from vault_indexer.system.c_library import c_function

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

_ARENAS = 2
_LARGE_BYTES = 4 << 20
_SPARE_BYTES = 32 << 20


def limit_malloc_arenas() -> None:
    """Call it before threads are started. Else every thread that answers has an arena of its own, and each
    keeps what was once freed in it: a daemon that had answered 16 clients at once held twice what it used.

    Large arrays get pages of their own, which go back when they are freed. Else the first one freed raises
    the threshold, the next lie in the heap, and an array that grows by a few rows with every edit (the delta
    of the vectors) leaves a hole each time that the next does not fit into.
    """
    mallopt = c_function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _SPARE_BYTES)


def trim_heap() -> None:
    """Return free pages to the system, after something large was freed."""
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
