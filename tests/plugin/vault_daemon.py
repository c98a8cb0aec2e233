"""A daemon that only the vault leads to, as the plugin finds it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cli_sandbox import Sandbox
from waiting import PROCESS_S, wait_until


@dataclass(frozen=True)
class RunningDaemon:
    """`indexer serve`, from its first moment on."""

    pid: int
    file: Path

    def status(self) -> dict[str, Any]:
        known = json.loads(self.file.read_text())
        address = urlsplit(known["url"])
        connection = HTTPConnection(address.hostname or "", address.port, timeout=PROCESS_S)
        connection.request("GET", "/v1/status", headers={"Authorization": f"Bearer {known['token']}"})
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return found


@contextmanager
def daemon_of(sandbox: Sandbox) -> Iterator[None]:
    """A daemon in the background, with an index."""
    place = ("--vault", str(sandbox.vault))
    started = sandbox.run("start", *place, "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    daemon = RunningDaemon(0, _announced(sandbox)[0])
    try:
        wait_until(lambda: daemon.status()["state"] == "ready", "the index")
        yield
    finally:
        sandbox.run("stop", *place)


@contextmanager
def serving(sandbox: Sandbox) -> Iterator[RunningDaemon]:
    """A daemon that has yet to build its index. It is announced, but may not be ready."""
    command = [sys.executable, "-m", "vault_indexer.cli", "serve", "--vault", str(sandbox.vault)]
    with subprocess.Popen(
        command, env=sandbox.environ, cwd=sandbox.root, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: _announced(sandbox), "daemon.json")
            yield RunningDaemon(process.pid, _announced(sandbox)[0])
        finally:
            process.terminate()
            process.wait(PROCESS_S)


def _announced(sandbox: Sandbox) -> list[Path]:
    return sorted((sandbox.root / "state").rglob("daemon.json"))
