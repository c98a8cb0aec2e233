"""`indexer mcp`."""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path

from vault_indexer.cli.commands.start import daemon_folder, start_daemon
from vault_indexer.cli.connection.connect import known_daemon_folder
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.cli.vault_folder import asks_all
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon
from vault_indexer.errors import DaemonError
from vault_indexer.serve.mcp.bridge import Bridge

_START_S = 60.0
"""How long a daemon that was started may take until it answers."""

_OTHER_S = 5.0
_ATTEMPTS = 2
_LOOK_EVERY_S = 0.1


def mcp(selection: VaultSelection) -> None:
    """Answer agents (MCP) over standard input and output, for hosts such as Claude and Cursor.

    The daemon answers; it is started if none is running, and goes on afterwards.
    """
    bridge = Bridge(lambda: _daemon(selection), sys.stdout.buffer, version("vault-indexer"))
    bridge.run(sys.stdin.buffer)


def _daemon(selection: VaultSelection) -> DaemonInfo:
    """The daemon of the vault, started if need be. Raises VaultIndexerError."""
    folder = known_daemon_folder(selection, os.environ)
    known = read_daemon(folder) if folder else None
    if known:
        return known
    is_shared = asks_all(selection, os.environ)
    index_dir = daemon_folder(selection, is_shared=is_shared)
    found = read_daemon(index_dir)
    for attempt in range(_ATTEMPTS):
        try:
            found = found or start_daemon(selection, index_dir, _START_S, all_vaults=is_shared)
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
