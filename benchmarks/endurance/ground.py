"""Where it happens: the vault, its index, and a daemon in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from speed.figures import table
from speed.material import Material
from speed.sides import OverHttp, over_http
from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.errors import DaemonError
from vault_indexer.serve.client import DaemonClient

_GENERATOR_NICE = 5


@dataclass(frozen=True, slots=True)
class Running:
    """A daemon that is ready. `started_s` is how long that took, from the start of its process."""

    pid: int
    client: DaemonClient
    side: OverHttp
    started_s: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the page. `load` is the machine's, one minute's average, when it was measured."""

    what: str
    measured: str
    target: str
    load: float


@contextmanager
def daemon(ground: Material, changed: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run a daemon (with these variables beside its own) until the block ends."""
    began = time.perf_counter()
    material = replace(ground, environ={**ground.environ, **(changed or {})})
    with over_http(material) as side:
        info = read_daemon(ground.index_dir)
        if info is None:
            raise DaemonError("the daemon has gone")
        yield Running(info.pid, DaemonClient(info), side, time.perf_counter() - began)


def figure(what: str, measured: str, target: str = "") -> Figure:
    """One that has just been measured: told at once, for a run that is broken off has figures, too."""
    print(f"{time.strftime('%H:%M:%S')} {what}: {measured}", file=sys.stderr, flush=True)
    return Figure(what, measured, target, os.getloadavg()[0])


def page(figures: list[Figure]) -> str:
    rows = [(one.what, one.measured, one.target, f"{one.load:.1f}") for one in figures]
    return table(("what", "measured", "target", "load average"), rows)


def notes_of(vault: Path) -> list[Path]:
    """The notes that are indexed, in order: not those below a folder that begins with a dot."""
    found = (path.relative_to(vault) for path in vault.rglob("*.md"))
    return sorted(vault / path for path in found if not any(part.startswith(".") for part in path.parts))


def be_nice() -> None:
    """For the thread that makes the changes: on Linux, niceness is a thread's own."""
    os.nice(_GENERATOR_NICE)


def size_on_disk(folder: Path) -> int:
    """Bytes that the file system has given to a folder's files; one that vanishes meanwhile has none."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(here) / name).stat().st_blocks * 512
            except FileNotFoundError:
                continue
    return total
