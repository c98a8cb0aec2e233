"""Functions of the C library that Python has no name for. Only Linux is asked: what they do is a courtesy."""

from __future__ import annotations

import ctypes
import sys

if sys.platform == "linux":

    def c_function(name: str) -> ctypes._NamedFuncPointer | None:
        """The function, or None where the C library has none of that name."""
        return getattr(ctypes.CDLL(None), name, None)

else:

    def c_function(name: str) -> ctypes._NamedFuncPointer | None:  # noqa: ARG001 - Linux looks it up
        """None: other systems are not asked."""
        return None
