"""A large vault under load: restart, git checkout, search in rebuild and storm, memory over a day's edits.

    python benchmarks/reliability_large.py VAULT WORKPLACE [--parts restart checkout rebuild_p95 soak]

VAULT is copied into WORKPLACE and indexed there; a second run goes on with what it finds. Everything is
measured from outside, on `indexer serve` in a process of its own. Whoever makes the changes runs at a lower
priority than the daemon. Prints a Markdown table, with the machine's load average beside every figure: only
those of a machine that has nothing else to do tell what the program can.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from endurance.busy import rebuild_p95
from endurance.checkout import checkout
from endurance.ground import Figure, figure, page
from endurance.restart import restart
from endurance.soak import soak
from speed.material import Material, silent
from vault_indexer.bootstrap import open_index

PARTS = ("restart", "checkout", "rebuild_p95", "soak")


def main() -> None:
    options = _options()
    ground = _ground(options.vault, options.workplace, options.nice)
    figures = [_built(ground)]
    parts: dict[str, Callable[[], list[Figure]]] = {
        "restart": lambda: restart(ground),
        "checkout": lambda: checkout(ground, options.notes),
        "rebuild_p95": lambda: rebuild_p95(ground),
        "soak": lambda: soak(ground, options.edits, options.minutes),
    }
    try:
        for name in options.parts:
            figures += parts[name]()
    finally:
        print(page(figures), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("workplace", type=Path, help="a folder of its own, which is left behind")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is measured (all)")
    parser.add_argument("--notes", type=int, default=10_000, help="that the two commits differ in (10,000)")
    parser.add_argument("--edits", type=int, default=3_000, help="of the soak (3,000)")
    parser.add_argument("--minutes", type=float, default=10.0, help="that the soak takes (10)")
    parser.add_argument("--nice", type=int, help="of the workers, where the machine has other work, too")
    options = parser.parse_args()
    if not options.vault.is_dir():
        parser.error(f"{options.vault} is not a folder")
    return options


def _ground(source: Path, workplace: Path, nice: int | None) -> Material:
    """States and configuration of the user are out of reach."""
    workplace.mkdir(parents=True, exist_ok=True)
    vault, folder = workplace / "vault", workplace / "work"
    if not vault.exists():
        shutil.copytree(source, vault, symlinks=True)
        vault.chmod(0o755)
    folder.mkdir(exist_ok=True)
    environ = {name: str(workplace / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    if nice is not None:
        environ["INDEXER_INDEX_NICE"] = str(nice)
    return Material(vault, workplace / "index", folder, environ)


def _built(ground: Material) -> Figure:
    began = time.perf_counter()
    service = open_index(ground.target, silent)
    try:
        counts = service.status().counts
    finally:
        service.close()
    seconds = time.perf_counter() - began
    what = f"index of {counts.notes:,} notes, {counts.chunks:,} chunks, built or brought in step"
    return figure(what, f"{seconds:.1f} s")


if __name__ == "__main__":
    main()
