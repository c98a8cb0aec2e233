"""What the C library does with memory that was freed. Only glibc is told anything; others need not be."""

from __future__ import annotations

from vault_indexer.store.c_library import c_function

_M_ARENA_MAX = -8
_ARENAS = 2


def few_arenas() -> None:
    """Call it before threads are started. Else every thread that answers has an arena of its own, and each
    keeps what was once freed in it: a daemon that had answered 16 clients at once held twice what it used."""
    mallopt = c_function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Free pages go back to the system: for the moment after something large was let go."""
    trim = c_function("malloc_trim")
    if trim is not None:
        trim(0)
