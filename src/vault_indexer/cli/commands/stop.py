"""`indexer stop`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from vault_indexer.cli.app import in_process_module
from vault_indexer.cli.connection.connect import known_daemon_folder
from vault_indexer.cli.known_vaults import recorded_vaults
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import AllVaults, VaultSelection, one_command
from vault_indexer.cli.vault_folder import asks_all, config_of, names_one, vaults_in_config
from vault_indexer.daemon.discovery import (
    DaemonInfo,
    announced_daemon,
    is_listening,
    read_daemon,
    read_index_pointer,
    shared_daemon_dir,
)
from vault_indexer.errors import DaemonError, UsageError
from vault_indexer.serve.api.endpoints import VAULTS
from vault_indexer.serve.client import DaemonClient
from vault_indexer.system import ask_to_end

_WAIT_S = 60.0
_LOOK_EVERY_S = 0.02
_SILENT_S = 5.0
"""A daemon whose address has been free for this time was killed: it leaves its announcement."""
_IN_ADDRESS = "/vault/"


def stop(selection: VaultSelection, all_vaults: AllVaults = False) -> None:
    """Stop the daemon and wait until it has ended.

    Where no vault is named and you are in none, every daemon of your vaults is stopped.
    """
    if all_vaults or asks_all(selection, os.environ):
        folders = _folders_of_all(selection)
    else:
        found = known_daemon_folder(selection, os.environ)
        if found is None or read_daemon(found) is None:
            found = in_process_module().target_of(selection).index_dir
        folders = [found]
        _refuse_to_stop_others(selection, read_daemon(found))
    shared = shared_daemon_dir(config_of(selection, os.environ))
    running = {
        info.pid: (info, shared if _IN_ADDRESS in info.url else folder)
        for folder in folders
        if (info := read_daemon(folder))
    }
    if not running:
        note("No daemon is running.")
    for info, folder in running.values():
        kept = _vaults_of(info)
        end_daemon(info, folder)
        note(f"Stopped the daemon of {_listed(kept or [info.vault])} (process {info.pid}).")


def _folders_of_all(selection: VaultSelection) -> list[Path]:
    """Where the daemons of all vaults may be announced: the shared one first."""
    pointers = (read_index_pointer(folder) for folder in vaults_in_config(selection, os.environ).values())
    recorded = (Path(known.index_dir) for known in recorded_vaults())
    shared = shared_daemon_dir(config_of(selection, os.environ))
    return list(dict.fromkeys(folder for folder in (shared, *pointers, *recorded) if folder))


def _refuse_to_stop_others(selection: VaultSelection, info: DaemonInfo | None) -> None:
    """Raises UsageError where one vault is named and its daemon also keeps others."""
    if info is None or not names_one(selection, os.environ):
        return
    kept = _vaults_of(info)
    if len(kept) > 1:
        name = info.url.rpartition(_IN_ADDRESS)[2]
        others = _listed(one for one in kept if one != name)
        raise UsageError(
            f"This daemon keeps {others}, too. To stop it for all: indexer stop --all-vaults. "
            f"To take out {name} alone: indexer vault remove {name}"
        )


def _vaults_of(info: DaemonInfo) -> list[str]:
    """The names of the vaults that a shared daemon keeps; empty for the daemon of one vault."""
    base, _, name = info.url.partition(_IN_ADDRESS)
    if info.vault and not name:
        return []
    try:
        return [one["name"] for one in DaemonClient(replace(info, url=base)).ask(VAULTS)["vaults"]]
    except DaemonError:
        return []


def _listed(names: Iterable[str]) -> str:
    *others, last = sorted(filter(None, names)) or ["no vault"]
    return f"{', '.join(others)} and {last}" if others else last


def end_daemon(info: DaemonInfo, index_dir: Path) -> None:
    """Ask a daemon found by `read_daemon` to end, then wait until its announcement in this folder is gone.

    Its removal is the last act, unless the folder is one of several vaults. Raises DaemonError on a timeout.
    """
    with suppress(ProcessLookupError):
        ask_to_end(info.pid)
    until = time.monotonic() + _WAIT_S
    heard = time.monotonic()
    while (left := announced_daemon(index_dir)) and (left.pid, left.started) == (info.pid, info.started):
        now = time.monotonic()
        if is_listening(info):
            heard = now
        elif now - heard > _SILENT_S:
            return
        if now > until:
            raise DaemonError(f"process {info.pid} has not ended within {_WAIT_S:g} s")
        time.sleep(_LOOK_EVERY_S)


app = one_command(stop)
