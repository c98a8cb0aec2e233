"""What a request costs the daemon, in processor time, in one checkout beside another.

    python benchmarks/request_cost.py OTHER_CHECKOUT [--requests 200] [--vault DIR]

Each checkout serves the vault (the bundled notebook, unless one is given) with its own code and the
packages of this environment. The requests of a kind are sent in turns of ten, to one server and to the other.
It prints the medians of the processor time of a request (Linux: /proc/PID/schedstat), and the median of the
paired ratios, this checkout by the other.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path

TURN = 10
START_S = 120
KINDS = {
    "search": "/v1/search?q=how+to+bake+bread",
    "search, 3 keys": "/v1/search?q=how+to+bake+bread&fields=path,line,snippet",
    "links": "/v1/links?path=Levain",
    "status": "/v1/status",
    "wrong request": "/v1/search?q=x&limit=201",
}


@dataclass(frozen=True)
class Server:
    """A daemon: its process, and where it answers."""

    pid: int
    port: int
    token: str

    def ask(self, target: str) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", target, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    def cost_ms(self, target: str, requests: int) -> float:
        """Milliseconds of processor time of a request."""
        before = self._ran_ns()
        for _ in range(requests):
            status, body = self.ask(target)
            if status not in (200, 422):
                raise SystemExit(f"{target}: {status} {body[:200]!r}")
        return (self._ran_ns() - before) / requests / 1e6

    def _ran_ns(self) -> int:
        tasks = Path(f"/proc/{self.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir())


@contextmanager
def serve(checkout: Path, vault: Path, folder: Path) -> Iterator[Server]:
    """A daemon of the code of a checkout."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(checkout / "src")}
    environment |= {"XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    command = [sys.executable, "-m", "vault_indexer.cli", "serve", "--vault", str(vault)]
    process = subprocess.Popen([*command, "--index-dir", str(folder / "index")], env=environment)
    try:
        info = _wait_for(folder / "index" / "daemon.json", process)
        server = Server(process.pid, int(str(info["url"]).rpartition(":")[2]), str(info["token"]))
        until = time.monotonic() + START_S
        while server.ask("/v1/health")[0] != 200:
            if time.monotonic() > until:
                raise SystemExit("a daemon has no index")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()


def _wait_for(file: Path, process: subprocess.Popen[bytes]) -> dict[str, object]:
    until = time.monotonic() + START_S
    while not file.exists():
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit("a daemon did not start")
        time.sleep(0.1)
    found: dict[str, object] = json.loads(file.read_text(encoding="utf-8"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--vault", type=Path, default=Path(str(files("vault_indexer") / "demo")))
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        servers = []
        for checkout in (options.other, Path(__file__).parents[1]):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            servers.append(stack.enter_context(serve(checkout.resolve(), options.vault, folder)))
        for server in servers:
            for target in KINDS.values():
                server.cost_ms(target, TURN)
        for kind, target in KINDS.items():
            turns = [
                [server.cost_ms(target, TURN) for server in servers] for _ in range(options.requests // TURN)
            ]
            other, this = (statistics.median(one) for one in zip(*turns, strict=True))
            ratio = statistics.median(own / theirs for theirs, own in turns)
            print(f"{kind:16} other {other:6.2f} ms   this {this:6.2f} ms   ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
