"""`indexer start`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.cli.app import here
from vault_indexer.cli.parameters import Place, one_command
from vault_indexer.cli.terminal import note
from vault_indexer.daemon.state import DaemonInfo, read_daemon
from vault_indexer.errors import DaemonError, IndexUnusableError
from vault_indexer.serve.client import DaemonClient

LOG_FILE = "daemon.log"
_LOG_BYTES = 1 << 20
"""A log that has grown beyond this begins anew with the next start."""

_LOOK_EVERY_S = 0.05


def start(
    place: Place,
    wait: Annotated[
        float, typer.Option("--wait", min=0.1, metavar="SECONDS", help="How long it may take to answer.")
    ] = 30.0,
) -> None:
    """Start the daemon in the background; it logs to `daemon.log` in the index folder."""
    target = here().target_of(place)
    running = read_daemon(target.index_dir)
    if running:
        note(f"already running: process {running.pid} at {running.url}")
        return
    log = _log_file(target.index_dir)
    began = log.stat().st_size
    info = _wait_for(_spawn(place, log), target.index_dir, log, began, wait)
    note(f"started: process {info.pid} at {info.url}, index in {target.index_dir}")


def _log_file(index_dir: Path) -> Path:
    log = index_dir / LOG_FILE
    try:
        index_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            if file.tell() > _LOG_BYTES:
                file.truncate(0)
    except OSError as error:
        raise IndexUnusableError(f"cannot write {log}: {error.strerror}") from error
    return log


def _spawn(place: Place, log: Path) -> subprocess.Popen[bytes]:
    named = {"--vault": place.vault, "--index-dir": place.index_dir, "--config": place.config}
    options = [part for name, value in named.items() if value for part in (name, str(value))]
    command = [sys.executable, "-m", "vault_indexer.cli", "serve", *options]
    with log.open("ab") as file:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )


def _wait_for(
    process: subprocess.Popen[bytes], index_dir: Path, log: Path, began: int, wait: float
) -> DaemonInfo:
    """The daemon once it answers. Raises DaemonError with what it logged if it ends before that."""
    until = time.monotonic() + wait
    while time.monotonic() < until:
        if process.poll() is not None:
            raise DaemonError(f"the daemon did not start:\n{_logged(log, began)}")
        info = read_daemon(index_dir)
        if info is not None and info.pid == process.pid:
            DaemonClient(info).status()
            return info
        time.sleep(_LOOK_EVERY_S)
    raise DaemonError(f"the daemon (process {process.pid}) does not answer after {wait:g} s; see {log}")


def _logged(log: Path, began: int) -> str:
    """The last lines of this start, without the name that we put in front ourselves."""
    with log.open("rb") as file:
        file.seek(began)
        lines = file.read().decode("utf-8", "replace").splitlines()
    return "\n".join(line.removeprefix("indexer: ") for line in lines[-5:]) or f"no reason given; see {log}"


app = one_command(start)
