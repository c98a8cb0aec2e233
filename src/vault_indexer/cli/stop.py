"""`indexer stop`."""

from __future__ import annotations

import os
import signal
import time

from vault_indexer.cli.here import target_of
from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.terminal import note
from vault_indexer.daemon.state import read_daemon
from vault_indexer.errors import DaemonError

_WAIT_S = 10.0
_LOOK_EVERY_S = 0.02


def stop(place: Place) -> None:
    """Stop the daemon and wait until it has ended."""
    index_dir = target_of(place).index_dir
    info = read_daemon(index_dir)
    if info is None:
        note("no daemon is running")
        return
    os.kill(info.pid, signal.SIGTERM)
    until = time.monotonic() + _WAIT_S
    while read_daemon(index_dir) == info:
        if time.monotonic() > until:
            raise DaemonError(f"process {info.pid} has not ended within {_WAIT_S:g} s")
        time.sleep(_LOOK_EVERY_S)
    note(f"stopped: process {info.pid}")


app = one_command(stop)
