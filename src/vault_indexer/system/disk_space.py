"""Room on the disk of an index: how much there is, and about how much is needed."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

FULL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT})
"""No space left on the file system; the user's quota on it is used up."""

EDIT_BYTES = 16 << 20
"""What an edit needs beside the derived indices, which it may have to write again: the catalog's log grows to
4 MiB before it is moved into the catalog, and a batch of notes may be larger than that."""


def free_bytes(folder: Path) -> int:
    """Bytes that this user may still write to the file system of a folder, which need not exist yet. The
    largest number there is where the system does not tell."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            break
    return 1 << 62


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder and below, as far as they can be seen."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:  # removed meanwhile
                continue
    return total


def in_words(count: int) -> str:
    """A number of bytes for a person: "0.3 MB", "120 MB", "1.5 GB"."""
    if count >= 10**9:
        return f"{count / 10**9:.1f} GB"
    return f"{count / 10**6:.0f} MB" if count >= 10**7 else f"{count / 10**6:.1f} MB"
