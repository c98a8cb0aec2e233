"""`indexer mcp`."""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import typer

from vault_indexer.cli.commands.start import daemon_place, start_daemon
from vault_indexer.cli.connection.connect import known_daemon_folder
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.cli.vault_folder import asks_all
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon
from vault_indexer.errors import DaemonError
from vault_indexer.serve.mcp.bridge import Bridge
from vault_indexer.serve.mcp.protocol import ADMIN_QUERY, SHORT_HITS_QUERY

_START_S = 60.0
"""The time that a new daemon has to answer."""

_OTHER_S = 5.0
_ATTEMPTS = 2
_LOOK_EVERY_S = 0.1


Tools = Annotated[
    Literal["reading", "admin"],
    typer.Option("--tools", help="`admin`: also those that change the chunking or run evaluations."),
]


def mcp(selection: VaultSelection, tools: Tools = "reading") -> None:
    """Serve agents over standard input and output (MCP), for hosts such as Claude and Cursor.

    The daemon answers. It is started if it is not running, and keeps running afterwards.
    """
    admin = [ADMIN_QUERY] if tools == "admin" else []
    query = "&".join([SHORT_HITS_QUERY, *admin])
    bridge = Bridge(lambda: _daemon(selection), sys.stdout.buffer, version("vault-indexer"), query)
    bridge.run(sys.stdin.buffer)


def _daemon(selection: VaultSelection) -> DaemonInfo:
    """Returns the daemon of the vault, and starts it if necessary. Raises VaultIndexerError."""
    is_shared = asks_all(selection, os.environ)
    folder = known_daemon_folder(selection, is_shared=is_shared)
    if folder and (known := read_daemon(folder)):
        return known
    index_dir, target = daemon_place(selection, is_shared=is_shared)
    found = read_daemon(index_dir)
    for attempt in range(_ATTEMPTS):
        try:
            found = found or start_daemon(selection, index_dir, target, _START_S)
        except DaemonError:
            # The lock may belong to a daemon that is ending, or to one that another bridge has just started.
            found = _wait_for_another(index_dir)
            if found is None and attempt == _ATTEMPTS - 1:
                raise
    assert found is not None
    return found


def _wait_for_another(index_dir: Path) -> DaemonInfo | None:
    until = time.monotonic() + _OTHER_S
    while time.monotonic() < until:
        found = read_daemon(index_dir)
        if found is not None:
            return found
        time.sleep(_LOOK_EVERY_S)
    return None


app = one_command(mcp)
