"""When a file was created, as far as the file system knows it."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path


def creation_time(path: Path) -> float:
    """Return when a file was created, in seconds since 1970. A file system that does not record it has the
    time of the last change instead. Raises OSError."""
    status = path.stat()
    created: float | None = getattr(status, "st_birthtime", None)  # macOS, and Windows from Python 3.12 on
    if created is None:
        created = status.st_ctime if sys.platform == "win32" else _birth_time(path)
    return min(status.st_mtime, status.st_ctime) if created is None else created


_AT_FDCWD, _STATX_BTIME = -100, 0x800
_STATX = struct.Struct("=I76xqI164x")
"""Of `struct statx` of Linux: the mask of what is known, and the seconds and nanoseconds of the birth."""


def _birth_time(path: Path) -> float | None:
    """Ask Linux for the time, which Python's `stat` does not return."""
    import ctypes

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (AttributeError, OSError):  # an older C library
        return None
    found = ctypes.create_string_buffer(_STATX.size)
    if statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        return None
    mask, seconds, nanoseconds = _STATX.unpack(found.raw)
    return float(seconds + nanoseconds / 1e9) if mask & _STATX_BTIME else None
