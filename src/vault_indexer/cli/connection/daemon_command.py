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
    """`indexer ARGUMENTS`, whatever the PATH and the working folder of the process that runs it."""
    return python_command("-m", "vault_indexer.cli", *arguments)


def place_options(selection: VaultSelection, vault: Path | None, environ: Mapping[str, str]) -> list[str]:
    """Options that name the vault, index folder and configuration of a command. Each path is absolute: a
    daemon has another working folder. What was not named stays unnamed, except `vault`."""
    named = {
        "--vault": vault,
        "--index-dir": selection.index_dir or environ.get("INDEXER_INDEX_DIR"),
        "--config": config_of(selection, environ),
    }
    return [part for name, path in named.items() if path for part in (name, _absolute(path))]


def _absolute(path: Path | str) -> str:
    return str(with_home(path).absolute())


# The hint that a daemon makes searches fast, for a person who has just waited for one.


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
