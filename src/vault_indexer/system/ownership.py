"""Whether a file is the user's own: what another user may write is not believed.

The rule is that of ssh: the owner is this user or root, and neither the group nor others may write. Windows
keeps rights in lists that are not read here; a user's folders there are closed to others.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

_BINARY, _NOFOLLOW, _NONBLOCK = (getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))
_READING = os.O_RDONLY | _BINARY | _NOFOLLOW | _NONBLOCK

if sys.platform == "win32":

    def owner_fault(path: Path | int) -> str:  # noqa: ARG001 - nothing is known there
        """Nothing: Windows tells no owner by a number."""
        return ""

    def write_fault(path: Path | int) -> str:  # noqa: ARG001 - nothing is known there
        """Nothing: the mode says nothing there."""
        return ""

else:

    def owner_fault(path: Path | int) -> str:
        """Why a file, by its path or open, is another user's; "" if it is one's own or root's, or missing."""
        try:
            owner = os.stat(path).st_uid  # noqa: PTH116 - also a descriptor
        except OSError:
            return ""
        return "" if owner in (os.geteuid(), 0) else f"it belongs to the user with the number {owner}"

    def write_fault(path: Path | int) -> str:
        """Why a file, by its path or open, is not one's own to write; "" if it is, or missing."""
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116
        except OSError:
            return ""
        shared = mode & (stat.S_IWGRP | stat.S_IWOTH)
        return f"others may write it (mode {stat.S_IMODE(mode):o})" if shared else ""


def read_own(path: Path) -> bytes:
    """The content of a regular file of the user's own. Raises OSError, also for a file that another user owns
    or may write, before anything of it is read. No link is followed."""
    with os.fdopen(os.open(path, _READING), "rb") as file:
        opened = file.fileno()
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if fault := owner_fault(opened) or write_fault(opened):
            raise PermissionError(errno.EPERM, fault, str(path))
        return file.read()
