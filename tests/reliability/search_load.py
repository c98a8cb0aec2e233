"""Many clients that search over loopback at a steady rate, while somebody edits notes and waits for them."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

from waiting import wait_until

QUERIES = ("how to link notes", "sync settings", "kestrel raven", "keyboard shortcut", "template plugin")


@dataclass(frozen=True)
class Daemon:
    """A daemon in a process of its own."""

    port: int
    token: str

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=180)

    def get(self, connection: HTTPConnection, target: str) -> tuple[int, bytes]:
        connection.request("GET", target, headers={"Authorization": f"Bearer {self.token}"})
        response = connection.getresponse()
        return response.status, response.read()

    def is_ready(self) -> bool:
        status = json.loads(self.get(self.connect(), "/v1/status")[1])
        return status["state"] == "ready" and not status["pending"]


@contextmanager
def serving(vault: Path, index: Path) -> Iterator[Daemon]:
    """`indexer serve`, once its index is ready."""
    place = ["--vault", str(vault), "--index-dir", str(index)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    environ |= {"XDG_CONFIG_HOME": str(index.parent), "XDG_STATE_HOME": str(index.parent)}
    command = [sys.executable, "-m", "vault_indexer.cli", "serve", *place]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        file = index / "daemon.json"
        wait_until(file.exists, "the daemon is announced")
        info = json.loads(file.read_text())
        daemon = Daemon(int(info["url"].rpartition(":")[2]), info["token"])
        wait_until(daemon.is_ready, "the index is ready", 300)
        yield daemon
    finally:
        process.terminate()
        process.wait(180)


@dataclass
class Load:
    """What came of it. Times are seconds; `fresh_s` is from the end of a save to the first hit."""

    seconds: float = 0.0
    took_s: list[float] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    fresh_s: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        took, fresh = statistics.quantiles(self.took_s, n=20), statistics.median(self.fresh_s)
        return (
            f"{len(self.took_s) / self.seconds:.0f} searches a second, p95 {took[-1] * 1000:.1f} ms; "
            f"edits found after {fresh:.2f} s, {max(self.fresh_s):.2f} s at most"
        )


def under_load(daemon: Daemon, vault: Path, *, clients: int, rate: float, seconds: float) -> Load:
    """Edits one note after the other, each of them awaited, while `clients` together ask `rate` searches a
    second (as many as go, if it cannot keep up)."""
    load, stop = Load(), threading.Event()
    asking = [
        threading.Thread(target=_ask, args=(daemon, load, stop, clients / rate, number / rate))
        for number in range(clients)
    ]
    began = time.monotonic()
    for thread in asking:
        thread.start()
    try:
        number = 0
        while time.monotonic() - began < seconds or number < 2:
            word = f"edited{number}"
            (vault / f"Edited {number % 5}.md").write_text(
                f"# Edited\n\n{word} under load\n", encoding="utf-8"
            )
            load.fresh_s.append(wait_until(_is_found(daemon, word), f"{word} is found"))
            number += 1
    finally:
        stop.set()
        for thread in asking:
            thread.join()
        load.seconds = time.monotonic() - began
    return load


def _is_found(daemon: Daemon, word: str) -> Callable[[], bool]:
    connection = daemon.connect()

    def is_found() -> bool:
        status, body = daemon.get(connection, f"/v1/search?q={word}&limit=1")
        return status == 200 and any(word in hit["content"] for hit in json.loads(body)["results"])

    return is_found


def _ask(daemon: Daemon, load: Load, stop: threading.Event, every_s: float, offset_s: float) -> None:
    connection, number, due = daemon.connect(), 0, time.monotonic() + offset_s
    while not stop.wait(max(0.0, due - time.monotonic())):
        began = time.monotonic()
        status, _ = daemon.get(connection, f"/v1/search?q={quote(QUERIES[number % len(QUERIES)])}")
        load.took_s.append(time.monotonic() - began)
        if status != 200:
            load.refused.append(status)
        number += 1
        due = max(due + every_s, time.monotonic() - every_s)  # what could not be asked in time is not made up
