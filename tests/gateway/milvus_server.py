"""A Milvus server for tests: Milvus Lite in a process of its own, on a port of this machine."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from waiting import wait_until

REASON = 'the extra "milvus" is not installed: pip install "vault-indexer[milvus]"'


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class MilvusServer:
    """Can be started, killed and started again over the same data."""

    def __init__(self, data: Path, port: int | None = None) -> None:
        self.data = data
        self.port = port or free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(self.data)]
        self.process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        wait_until(self._answers, "Milvus Lite listens")

    def kill(self) -> None:
        """As a power cut ends it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self) -> None:
        if self.process is not None:
            self.kill()

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None
        return listens(self.port)


@contextmanager
def milvus_server(data: Path) -> Iterator[MilvusServer]:
    server = MilvusServer(data)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    """One for all tests that do not end it: each test has collections of its own."""
    pytest.importorskip("pymilvus", reason=REASON)
    pytest.importorskip("milvus_lite", reason=REASON)
    with milvus_server(tmp_path_factory.mktemp("milvus") / "data") as server:
        yield server
