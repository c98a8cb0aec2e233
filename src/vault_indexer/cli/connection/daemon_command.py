"""The commands that start a daemon: here, at login, and from the Obsidian plugin."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import config_of
from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.system import python_command, with_home


def indexer_command(*arguments: str) -> list[str]:
    """`indexer ARGUMENTS`, independent of the PATH and working folder of the process that runs it."""
    return python_command("-m", "vault_indexer.cli", *arguments)


def place_options(selection: VaultSelection, vault: Path | None, environ: Mapping[str, str]) -> list[str]:
    """Options for the vault, index folder and configuration that were given to a command, and for `vault`.
    All paths are absolute, because the daemon has another working folder."""
    named = {
        "--vault": vault,
        "--index-dir": selection.index_dir or environ.get("INDEXER_INDEX_DIR"),
        "--config": config_of(selection, environ),
    }
    given = [(name, str(with_home(path).absolute())) for name, path in named.items() if path]
    return [part for option in given for part in option]


# The hint that a daemon makes searches faster, for a user who has just waited for one.

HINT_FILE = "start-hint"
"""An empty file in the index folder; its modification time is that of the last hint."""

_AGAIN_AFTER_S = 24 * 60 * 60


def hint_at_start(index_dir: Path) -> None:
    """Suggests `indexer start` on standard error at a terminal, at most once a day per index.

    Does nothing if a daemon is running, or if the time of the hint cannot be stored.
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or read_daemon(index_dir) is not None:
        return
    remembered = index_dir / HINT_FILE
    try:
        # `abs`, because a clock that was set back would suppress the hint for longer.
        if remembered.exists() and abs(time.time() - remembered.stat().st_mtime) < _AGAIN_AFTER_S:
            return
        remembered.touch()
    except OSError:
        return
    note("Searches are faster while the daemon runs (indexer start).")
