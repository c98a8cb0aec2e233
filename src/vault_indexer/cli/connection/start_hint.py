"""The hint that a daemon makes searches fast, for a person who has just waited for one."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from vault_indexer.cli.output.terminal import note
from vault_indexer.daemon.discovery import read_daemon

HINT_FILE = "start-hint"
"""In the index folder, empty; its time of modification is when the hint was given last."""

_AGAIN_AFTER_S = 24 * 60 * 60


def hint_at_start(index_dir: Path) -> None:
    """Name `indexer start` on standard error: to a person at a terminal, once a day for each index at most.

    Silent where a daemon runs, and where it could not be remembered that the hint was given.
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or read_daemon(index_dir) is not None:
        return
    remembered = index_dir / HINT_FILE
    try:
        if remembered.exists() and abs(time.time() - remembered.stat().st_mtime) < _AGAIN_AFTER_S:
            return
        remembered.touch()
    except OSError:
        return
    note("Searches are faster while the daemon runs (indexer start).")
