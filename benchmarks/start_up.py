"""What a command costs before it does anything, as ratios of processor time in one run.

    python benchmarks/start_up.py [--pairs 15]

`indexer --help` is compared with the plain help of a typer program with two options, and a search through a
daemon with a program that imports typer, rich and http.client. Each pair runs in turn, and the median of the
paired ratios counts. `LIMITS` are what the commands reached on 2026-11-28, with some room.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

BARE = """
import typer
app = typer.Typer(rich_markup_mode=None)
@app.command()
def main(name: str = "x", loud: bool = False) -> None:
    pass
app()
"""
EMPTY = "import http.client, rich, typer"
LIMITS = {"--help": 1.6, "search": 1.6}


def processor_seconds(command: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(command: list[str], base: list[str], environ: dict[str, str], pairs: int) -> float:
    """The median of the paired ratios; a first pair fills the caches."""
    for each in (base, command):
        processor_seconds(each, environ)
    found = []
    for _ in range(pairs):
        bare = processor_seconds(base, environ)
        found.append(processor_seconds(command, environ) / bare)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=15)
    pairs = parser.parse_args().pairs
    python = sys.executable
    indexer = [str(Path(python).with_name("indexer"))]
    with tempfile.TemporaryDirectory() as folder:
        homes = {name: f"{folder}/{name}" for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        environ = {**os.environ, **homes, "INDEXER_EMBEDDING_PROVIDER": "wordllama"}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process compiles every module
        shutil.copytree(str(files("vault_indexer") / "demo"), f"{folder}/vault")
        place = ["--vault", f"{folder}/vault", "--index-dir", f"{folder}/index"]
        for command in ("rebuild", "start"):
            subprocess.run([*indexer, command, *place], env=environ, check=True)
        try:
            found = {
                "--help": ratio([*indexer, "--help"], [python, "-c", BARE, "--help"], environ, pairs),
                "search": ratio([*indexer, "search", "slugs", *place], [python, "-c", EMPTY], environ, pairs),
            }
        finally:
            subprocess.run([*indexer, "stop", *place], env=environ, check=True)
    for name, times in found.items():
        print(f"indexer {name:<8} {times:.2f} (at most {LIMITS[name]})")
    sys.exit(any(times > LIMITS[name] for name, times in found.items()))


if __name__ == "__main__":
    main()
