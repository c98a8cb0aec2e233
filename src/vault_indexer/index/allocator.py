"""What the C library does with memory that was freed. Only glibc is told anything; others need not be."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
_ARENAS = 2


def few_arenas() -> None:
    """Call it before threads are started. Else every thread that answers has an arena of its own, and each
    keeps what was once freed in it: a daemon that had answered 16 clients at once held twice what it used."""
    mallopt = _glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Free pages go back to the system: for the moment after something large was let go."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _glibc(name: str) -> ctypes._NamedFuncPointer | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
