"""Where this process is announced: a `daemon.json` for each index that it keeps."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from vault_indexer.daemon.discovery import (
    ADDRESS_FILE,
    DAEMON_FILE,
    DaemonInfo,
    KeptAddress,
    remove_daemon,
    write_address,
    write_daemon,
)
from vault_indexer.errors import IndexUnusableError


class Announcements:
    """The announcements of one server. Thread-safe; `close` takes all of them back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_folder: dict[Path, DaemonInfo] = {}

    def add(self, index_dir: Path, info: DaemonInfo) -> None:
        """Write `daemon.json`. Raises IndexUnusableError."""
        with self._lock:
            self._by_folder[index_dir] = info
        try:
            write_daemon(index_dir, info)
        except OSError as error:
            raise IndexUnusableError(f"cannot write {index_dir}/{DAEMON_FILE}: {error.strerror}") from error

    def keep(self, index_dir: Path, address: KeptAddress) -> None:
        """Write `address.json`, which stays. Raises IndexUnusableError."""
        try:
            write_address(index_dir, address)
        except OSError as error:
            raise IndexUnusableError(f"cannot write {index_dir}/{ADDRESS_FILE}: {error.strerror}") from error

    def again(self) -> None:
        """Write what was deleted together with its folder, where the folder is there again."""
        with self._lock:
            known = list(self._by_folder.items())
        for index_dir, info in known:
            if index_dir.is_dir() and not (index_dir / DAEMON_FILE).exists():
                with suppress(OSError):
                    write_daemon(index_dir, info)

    def remove(self, index_dir: Path) -> None:
        """Take one back."""
        with self._lock:
            self._by_folder.pop(index_dir, None)
        remove_daemon(index_dir, os.getpid())

    def close(self) -> None:
        """Take all back."""
        for index_dir in list(self._by_folder):
            self.remove(index_dir)
