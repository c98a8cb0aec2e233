"""Functions of the C library that Python has no name for. Only Linux is asked: what they do is a courtesy."""

from __future__ import annotations

import ctypes
import sys


def c_function(name: str) -> ctypes._NamedFuncPointer | None:
    """The function, or None where the system or its C library has none of that name."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
