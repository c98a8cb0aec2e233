"""The two ways to our index that are measured: in process, and through a daemon over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from speed.figures import children_of, resident_mb
from speed.material import HITS, Material, silent
from vault_indexer.bootstrap import open_daemon
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon
from vault_indexer.errors import DaemonError
from vault_indexer.model import SearchRequest
from vault_indexer.serve.api.endpoints import STATUS
from vault_indexer.serve.api.generated.shapes import ProgressJson
from vault_indexer.serve.client import DaemonClient
from vault_indexer.service import VaultService

Ask = Callable[[str], None]

_START_S = 300.0
_STOP_S = 30.0
_LOOK_S = 0.05


class Side(Protocol):
    """One way to a daemon's index."""

    name: str

    def client(self) -> AbstractContextManager[Ask]:
        """A client of its own; what it asks raises DaemonError or VaultIndexerError if there is no answer."""
        ...

    def rebuild(self) -> None:
        """Have the index rebuilt and wait for the end."""
        ...

    def state(self) -> tuple[str, int, int]:
        """State, changes that are not yet in the index, seq."""
        ...


class InProcess:
    """The service with the threads that keep its index, as a daemon holds it, without HTTP."""

    name = "in process"

    def __init__(self, service: VaultService) -> None:
        self._service = service

    @contextmanager
    def client(self) -> Iterator[Ask]:
        """Nothing of its own: clients are threads."""

        def ask(query: str) -> None:
            self._service.search(SearchRequest(query, HITS))

        yield ask

    def rebuild(self) -> None:
        """As `indexer rebuild` has it done."""
        self._service.rebuild(silent)

    def state(self) -> tuple[str, int, int]:
        """As the service tells."""
        status = self._service.status()
        return status.state, status.pending, status.seq


class OverHttp:
    """A daemon in a process of its own; every client keeps one connection open."""

    name = "daemon, HTTP"

    def __init__(self, info: DaemonInfo) -> None:
        self._info = info
        self._client = DaemonClient(info)

    @contextmanager
    def client(self) -> Iterator[Ask]:
        """Reads the whole answer and does not parse it: that is the editor's own time."""
        address = urlsplit(self._info.url)
        connection = HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=60)
        headers = {"Authorization": f"Bearer {self._info.token}"}

        def ask(query: str) -> None:
            target = f"/v1/search?{urlencode({'q': query, 'limit': HITS})}"
            try:
                connection.request("GET", target, headers=headers)
                response = connection.getresponse()
                content = response.read()
            except (OSError, HTTPException):
                connection.close()  # the next question opens it again
                raise
            if response.status != 200:
                raise DaemonError(f"status {response.status}: {content[:200].decode('utf-8', 'replace')}")

        try:
            yield ask
        finally:
            connection.close()

    def rebuild(self) -> None:
        """As `indexer rebuild` has it done."""
        self._client.rebuild(_unseen, RebuildOptions())

    def state(self) -> tuple[str, int, int]:
        """As `GET /v1/status` tells."""
        status = self._client.ask(STATUS)
        return status["state"], status["pending"], status["seq"]

    def memory(self) -> tuple[float, list[float]]:
        """Resident MiB of the daemon, and of each process it has started."""
        pid = self._info.pid
        return resident_mb(pid), [resident_mb(child) for child in children_of(pid)]


@contextmanager
def in_process(material: Material) -> Iterator[InProcess]:
    """Open the index in this process, in step with the vault."""
    service = open_daemon(material.target)
    try:
        side = InProcess(service)
        await_ready(side, _START_S)
        yield side
    finally:
        service.close()


@contextmanager
def over_http(material: Material) -> Iterator[OverHttp]:
    """Run a daemon. Raises DaemonError with its last words if it does not start."""
    log = material.folder / "daemon.log"
    command = [*python_program(), "serve", *places(material)]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment(material.environ)
        )
    try:
        side = OverHttp(_announced(process, material.index_dir, log))
        await_ready(side, _START_S)
        yield side
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def await_ready(side: Side, limit_s: float) -> float:
    """Seconds until the index is ready and in step. Raises DaemonError if that takes longer than allowed."""
    started = time.monotonic()
    while time.monotonic() - started < limit_s:
        state, pending, _ = side.state()
        if state in ("ready", "degraded") and not pending:
            return time.monotonic() - started
        time.sleep(_LOOK_S)
    raise DaemonError(f"{side.name}: not ready within {limit_s:.0f} s ({side.state()})")


def python_program() -> list[str]:
    """The program as this interpreter runs it: one process, without a shell script before it."""
    return [sys.executable, "-m", "vault_indexer.cli"]


def installed_program() -> list[str]:
    """The command `indexer` as it was installed; where it was not, the module."""
    script = Path(sys.executable).with_name("indexer")
    return [str(script)] if script.exists() else python_program()


def places(material: Material) -> list[str]:
    """The options that name vault and index."""
    return ["--vault", str(material.vault), "--index-dir", str(material.index_dir)]


def environment(changed: Mapping[str, str]) -> dict[str, str]:
    """This process's variables without any that configure the indexer, and with those changed."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    return {**own, **changed}


def _announced(process: subprocess.Popen[bytes], index_dir: Path, log: Path) -> DaemonInfo:
    started = time.monotonic()
    while time.monotonic() - started < _START_S and process.poll() is None:
        info = read_daemon(index_dir)
        if info is not None and info.pid == process.pid:
            return info
        time.sleep(_LOOK_S)
    last = log.read_text("utf-8", errors="replace").splitlines()[-5:]
    raise DaemonError(f"the daemon did not start: {json.dumps(last)}")


def _unseen(_progress: ProgressJson) -> None:
    """Nobody watches."""
