"""`indexer start`."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.cli.app import in_process_module
from vault_indexer.cli.connection.daemon_command import indexer_command, place_options
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import AllVaults, Strategy, TakeOver, VaultSelection, one_command
from vault_indexer.cli.vault_folder import config_of, keeps_all
from vault_indexer.daemon.discovery import DaemonInfo, announced_daemon, read_daemon, shared_daemon_dir
from vault_indexer.errors import DaemonError, IndexUnusableError, UsageError
from vault_indexer.serve.api.endpoints import VAULTS
from vault_indexer.serve.client import DaemonClient
from vault_indexer.system import open_to_append, start_in_background

LOG_FILE = "daemon.log"

_LOOK_EVERY_S = 0.05


def start(
    selection: VaultSelection,
    wait: Annotated[
        float,
        typer.Option("--wait", min=0.1, metavar="SECONDS", help="Wait at most SECONDS for an answer."),
    ] = 30.0,
    all_vaults: AllVaults = False,
    strategy: Strategy = "",
    take_over: TakeOver = False,
) -> None:
    """Keep the index current while you write, in the background.

    The log is `daemon.log` in the index folder.
    """
    del strategy  # its callback has put it where the daemon finds it
    is_shared = all_vaults or keeps_all(selection, os.environ)
    folder = daemon_folder(selection, is_shared=is_shared)
    running = read_daemon(folder)
    if running and take_over:
        raise UsageError('--take-over: the daemon is running; run "indexer stop" first')
    if running:
        note(f"The daemon is running already, at {running.url} (process {running.pid}).")
    else:
        start_daemon(selection, folder, wait, all_vaults=is_shared, take_over=take_over)


def daemon_folder(selection: VaultSelection, *, is_shared: bool) -> Path:
    """The folder of the `daemon.json`: of the daemon of all vaults, else of this one's index."""
    if is_shared:
        return shared_daemon_dir(config_of(selection, os.environ))
    return in_process_module().target_of(selection).index_dir


def start_daemon(
    selection: VaultSelection,
    index_dir: Path,
    wait: float,
    *,
    all_vaults: bool = False,
    take_over: bool = False,
) -> DaemonInfo:
    """Start the daemon of this place, say so, and return when it answers. Raises VaultIndexerError, with
    what it said if it ended, or if it does not answer within `wait` seconds."""
    log, before = _log_file(index_dir), announced_daemon(index_dir)
    until = time.monotonic() + wait
    info = _wait_for(_spawn(selection, log, all_vaults, take_over), index_dir, before, log, wait)
    # A command that asks about one vault finds the daemon once this vault is open.
    while all_vaults and time.monotonic() < until and _is_opening(info):
        time.sleep(_LOOK_EVERY_S)
    where = f"log in {log}" if all_vaults else f"index in {index_dir}"
    note(f"Started the daemon at {info.url} (process {info.pid}, {where}).")
    return info


def _is_opening(info: DaemonInfo) -> bool:
    return any(vault["state"] == "opening" for vault in DaemonClient(info).ask(VAULTS)["vaults"])


def _log_file(index_dir: Path) -> Path:
    log = index_dir / LOG_FILE
    try:
        index_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(open_to_append(log))
    except OSError as error:
        raise IndexUnusableError(f"cannot write {log}: {error.strerror}") from error
    return log


def _spawn(
    selection: VaultSelection, log: Path, all_vaults: bool, take_over: bool
) -> subprocess.Popen[bytes]:
    vault = None if all_vaults else in_process_module().target_of(selection).vault
    options = place_options(selection, vault, os.environ) + (["--all-vaults"] if all_vaults else [])
    options += ["--take-over"] if take_over else []
    command = indexer_command("serve", "--log-file", str(log.absolute()), *options)
    # What it says before it logs, and why it ends, comes through the pipe: a full disk has no room for it.
    return start_in_background(command, log.parent)


def _wait_for(
    process: subprocess.Popen[bytes], index_dir: Path, before: DaemonInfo | None, log: Path, wait: float
) -> DaemonInfo:
    """The daemon once it answers; `before` is what a daemon that was killed has left. Raises DaemonError with
    what it said if it ends before that."""
    until = time.monotonic() + wait
    while time.monotonic() < until:
        if process.poll() is not None:
            raise DaemonError(f"the daemon did not start: {_last_words(process, log)}")
        if announced_daemon(index_dir) != before and (info := read_daemon(index_dir)):
            return info
        time.sleep(_LOOK_EVERY_S)
    raise DaemonError(f"the daemon (process {process.pid}) does not answer after {wait:g} s; see {log}")


def _last_words(process: subprocess.Popen[bytes], log: Path) -> str:
    """The last lines on standard error, without the name that we put in front ourselves; from a new line
    where they are several."""
    said = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
    lines = [line.removeprefix("indexer: ") for line in said.splitlines()[-5:]]
    return "\n".join(lines if len(lines) < 2 else ["", *lines]) or f"no reason given; see {log}"


app = one_command(start)
