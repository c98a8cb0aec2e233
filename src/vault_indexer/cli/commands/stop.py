"""`indexer stop`."""

from __future__ import annotations

import os
import time
from pathlib import Path

from vault_indexer.cli.app import in_process_module
from vault_indexer.cli.commands.start import ask_if_alive
from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.reach import known_daemon_folder
from vault_indexer.cli.several import asks_all
from vault_indexer.cli.terminal import note
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon
from vault_indexer.errors import DaemonError
from vault_indexer.serve.client import NotListeningError
from vault_indexer.system import ask_to_end

_WAIT_S = 60.0
_LOOK_EVERY_S = 0.02


def stop(place: Place) -> None:
    """Stop the daemon and wait until it has ended. A daemon of several vaults ends for all of them."""
    index_dir = known_daemon_folder(place, os.environ)
    if index_dir is None or read_daemon(index_dir) is None:
        is_shared = asks_all(place, os.environ)
        index_dir = index_dir if is_shared else in_process_module().target_of(place).index_dir
    assert index_dir is not None
    info = read_daemon(index_dir)
    if info is None:
        note("no daemon is running")
        return
    end_daemon(info, index_dir)
    note(f"stopped: process {info.pid}")


def end_daemon(info: DaemonInfo, index_dir: Path) -> None:
    """Ask the process to end, then wait until it is gone or no longer announced (its last act). Raises
    DaemonError where it may be another program, or does not end."""
    try:
        ask_if_alive(info)  # so that a foreign process that has got its pid is never signalled
    except NotListeningError as error:
        raise DaemonError(
            f"{error}, and process {info.pid} may be another program by now: nothing was stopped"
        ) from error
    ask_to_end(info.pid)
    until = time.monotonic() + _WAIT_S
    while read_daemon(index_dir) == info:
        if time.monotonic() > until:
            raise DaemonError(f"process {info.pid} has not ended within {_WAIT_S:g} s")
        time.sleep(_LOOK_EVERY_S)


app = one_command(stop)
