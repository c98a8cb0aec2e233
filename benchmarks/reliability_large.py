"""The large vault under load: restart, search during a rebuild, git checkout, memory over many edits.

    python benchmarks/reliability_large.py VAULT WORKPLACE [restart|rebuild|soak ...]

VAULT is copied into WORKPLACE, which must not exist and is left behind for a look at it.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import threading
import time
from pathlib import Path

from vault_indexer.bootstrap import Assembly, resolve_target
from vault_indexer.daemon.keeper import DaemonKeeper
from vault_indexer.model import Progress, SearchRequest
from vault_indexer.service import VaultService

QUERIES = ("sync settings", "how to link notes", "keyboard shortcut", "export pdf", "template plugin")


def unheard(_progress: Progress) -> None:
    """Nobody listens."""


def start(vault: Path, index: Path) -> tuple[DaemonKeeper, float]:
    """A daemon and the seconds until it was ready."""
    began = time.perf_counter()
    keeper = DaemonKeeper(Assembly.of(resolve_target(vault, index, None, environ={}, options={})))
    while keeper.status().state != "ready" or keeper.pending():
        time.sleep(0.02)
    return keeper, time.perf_counter() - began


def latencies(service: VaultService, stop: threading.Event, at_least: int) -> list[float]:
    """Milliseconds of searches, until `stop` and at least so many."""
    times: list[float] = []
    while len(times) < at_least or not stop.is_set():
        query = QUERIES[len(times) % len(QUERIES)]
        began = time.perf_counter()
        service.search(SearchRequest(query))
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(0.005)
    return times


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def restart(vault: Path, index: Path) -> None:
    keeper, seconds = start(vault, index)
    print(f"restart, nothing changed: ready after {seconds:.2f} s")
    keeper.close()


def rebuild(vault: Path, index: Path) -> None:
    keeper, _ = start(vault, index)
    service, idle, done = VaultService(keeper), threading.Event(), threading.Event()
    idle.set()
    latencies(service, idle, 50)
    before = p95(latencies(service, idle, 300))
    began = time.perf_counter()

    def build() -> None:
        keeper.rebuild(unheard, refit=False)
        done.set()

    threading.Thread(target=build).start()
    during = latencies(service, done, 50)
    seconds = time.perf_counter() - began
    print(f"rebuild: {seconds:.1f} s; search p95 {before:.1f} ms idle, {p95(during):.1f} ms during")
    keeper.close()


def soak(vault: Path, index: Path) -> None:
    keeper, _ = start(vault, index)
    rng, notes = random.Random(1), sorted(vault.rglob("*.md"))
    for number in range(600):
        note = rng.choice(notes)
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nsoak {number}\n")
        keeper.wait_fresh(60)
        if number % 100 == 99:
            print(f"soak: {number + 1} edits, {resident_mb():.0f} MB resident")
    keeper.close()


def resident_mb() -> float:
    """Of this process, without its workers (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


PARTS = {"restart": restart, "rebuild": rebuild, "soak": soak}


def main(source: Path, workplace: Path, *parts: str) -> None:
    vault, index = workplace / "vault", workplace / "index"
    if not workplace.exists():
        shutil.copytree(source, vault)
    keeper, seconds = start(vault, index)
    print(f"first build: {seconds:.1f} s, {keeper.status().counts}")
    keeper.close()
    for part in parts or PARTS:
        PARTS[part](vault, index)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
