"""SQLite's errors as errors of the index."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from vault_indexer.errors import DamagedError, IndexUnusableError


def unusable(catalog: Path, error: Exception) -> IndexUnusableError:
    """A malformed file is a DatabaseError itself; a full disk, a lock or a failed read one of its subclasses,
    and no reason to build anew."""
    kind = DamagedError if type(error) is sqlite3.DatabaseError else IndexUnusableError
    return kind(f"catalog {catalog}: {error}")
