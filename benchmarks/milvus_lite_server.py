"""Milvus Lite in a process of its own, for the benchmarks of the Milvus backend."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiteServer:
    """Where it listens, and which process it is (0: not ours)."""

    uri: str
    pid: int


@contextmanager
def lite_server(uri: str = "") -> Iterator[LiteServer]:
    """The server at `uri`, or one with empty data that ends with the block."""
    if uri:
        yield LiteServer(uri, 0)
        return
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "milvus_lite", "server", "--data-dir", f"{data}/milvus"]
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL
        )
        try:
            while not _listens(port):
                if process.poll() is not None:
                    sys.exit("Milvus Lite did not start")
                time.sleep(0.1)
            yield LiteServer(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.kill()
            process.wait()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def resident_mb(pid: int) -> float:
    """The memory of a process now, in MB; 0 for none of ours. Linux only."""
    if not pid:
        return 0.0
    with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123 - not a file on disk
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
