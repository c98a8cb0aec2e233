"""SQLite's errors as errors of the index."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from vault_indexer.errors import DamagedError, DiskFullError, IndexUnusableError, UnavailableError
from vault_indexer.system import FULL_ERRORS, free_bytes

SqliteError = sqlite3.Error

_PRIMARY_CODE = 0xFF
"""Of an extended result code, these bits are the primary one: https://www.sqlite.org/rescode.html"""

_NEARLY_FULL_BYTES = 1 << 20
"""SQLite reports a full disk as "disk I/O error" where it met it in the memory shared by readers, which it
extends by 32 KiB at a time."""


def unusable(catalog: Path, error: Exception) -> UnavailableError:
    """The error of the index for an error of SQLite (or an OSError) met in this catalog.

    A malformed file is a DatabaseError itself; a full disk, a lock or a failed read is one of its subclasses,
    and no reason to rebuild. A full disk gives a DiskFullError.
    """
    if is_full(catalog, error):
        return DiskFullError(f"index {catalog}: {error}")
    kind = DamagedError if type(error) is sqlite3.DatabaseError else IndexUnusableError
    return kind(f"index {catalog}: {error}")


def is_full(place: Path, error: Exception) -> bool:
    """Whether SQLite, or the system, met a full disk at this place."""
    if isinstance(error, OSError):
        return error.errno in FULL_ERRORS
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.Error) or code is None:
        return False
    primary = code & _PRIMARY_CODE
    if primary == sqlite3.SQLITE_IOERR:
        return free_bytes(place) < _NEARLY_FULL_BYTES
    return bool(primary == sqlite3.SQLITE_FULL)
