"""Listing folders and looking at files: what a scan asks the file system."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from vault_indexer.system import long_path


class Entry(Protocol):
    """The part of os.DirEntry that a scan uses."""

    @property
    def name(self) -> str:
        """As the listing spells it."""
        ...

    def is_symlink(self) -> bool: ...

    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


class VaultFiles(Protocol):
    """A file system as far as a scan needs it. Paths are absolute; both methods raise OSError."""

    def lstat(self, path: str) -> os.stat_result:
        """What is at a path, links not followed."""
        ...

    def scandir(self, path: str) -> AbstractContextManager[Iterator[Entry]]:
        """What is in a folder."""
        ...


if sys.platform == "win32":

    class _WindowsEntry:
        """An entry whose stat is that of the file. Windows' listings have neither the number of a file nor,
        while it is open, its size: each file would look changed at each scan."""

        def __init__(self, entry: os.DirEntry[str]) -> None:
            self._entry = entry
            self.name = entry.name
            self.is_symlink = entry.is_symlink
            self.is_dir = entry.is_dir

        def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
            return Path(long_path(self._entry.path)).stat(follow_symlinks=follow_symlinks)

    class SystemFiles:
        """The file system of this machine."""

        def lstat(self, path: str) -> os.stat_result:
            return os.lstat(long_path(path))

        @contextmanager
        def scandir(self, path: str) -> Iterator[Iterator[Entry]]:
            with os.scandir(long_path(path)) as entries:
                yield (_WindowsEntry(entry) for entry in entries)

else:

    class SystemFiles:
        """The file system of this machine."""

        def lstat(self, path: str) -> os.stat_result:
            return os.lstat(path)

        def scandir(self, path: str) -> AbstractContextManager[Iterator[Entry]]:
            return os.scandir(path)
