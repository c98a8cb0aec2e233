"""What a small machine needs: a daemon on one processor, with 256 open files, from the build to rest.

    python benchmarks/small_machine.py VAULT [--notes 2000] [--seconds 60] [--nice N]

The first notes of the vault are copied. Memory is the proportional set size of the daemon and all processes
it has started, together, ten times a second: pages that they share count once. Linux only.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from endurance.ground import daemon, notes_of
from endurance.processes import family
from speed.figures import children_of, table
from speed.material import Material
from speed.sides import environment, places, python_program
from vault_indexer.serve.api.endpoints import SEARCH

OPEN_FILES = 256
LOOK_S = 0.1


def proportional_mb(pid: int) -> float:
    """Of a process and all its descendants, in MiB; of a process that has ended 0."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
    return own + sum(map(proportional_mb, children_of(pid)))


@contextmanager
def highest() -> Iterator[list[float]]:
    """The most memory that the children of this process take meanwhile, as the last item."""
    peaks, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_S):
            peaks.append(max(peaks[-1], sum(map(proportional_mb, children_of(os.getpid())))))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


def copy_notes(source: Path, vault: Path, count: int) -> None:
    """The first notes in order of their paths."""
    for note in notes_of(source)[:count]:
        copy = vault / note.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(note, copy)


def measure(ground: Material, seconds: float) -> list[tuple[str, str]]:
    """Rows of the table."""
    began = time.monotonic()
    command = [*python_program(), "rebuild", *places(ground)]
    with highest() as building:
        subprocess.run(command, env=environment(ground.environ), check=True, stdout=subprocess.DEVNULL)
    ready = (f"`indexer rebuild`, {time.monotonic() - began:.0f} s", f"{building[-1]:.0f} MB at most")
    with daemon(ground) as running:
        with highest() as searching:
            for word in ("note", "plugin", "how to link a heading", "vault sync") * 25:
                running.client.ask(SEARCH, q=word)
        first = notes_of(ground.vault)[0]
        with highest() as editing:
            for number in range(20):
                first.write_text(f"{first.read_text()}\n\nLine {number}\n")
                time.sleep(0.5)
        with highest() as resting:
            time.sleep(seconds)
        now = family(running.pid)
        rows = [("100 searches", searching), ("20 saves", editing), (f"{seconds:.0f} s of rest", resting)]
        files = ("open files of all processes at the end", f"{now.files} in {now.processes} processes")
        return [ready, *((what, f"{peaks[-1]:.0f} MB at most") for what, peaks in rows), files]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60, help="of rest")
    parser.add_argument("--nice", type=int, help="of the workers, where the machine has other work, too")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        copy_notes(options.vault, root / "vault", options.notes)
        (root / "work").mkdir()
        environ = {name: str(root / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        if options.nice is not None:
            environ["INDEXER_INDEX_NICE"] = f"{options.nice}"
        ground = Material(root / "vault", root / "index", root / "work", environ)
        load = os.getloadavg()[0]
        print(table((f"{options.notes} notes, one processor", "memory"), measure(ground, options.seconds)))
        print(f"\nload average {load:.1f}")


if __name__ == "__main__":
    main()
