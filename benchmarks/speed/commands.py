"""The command line as processes: how long a user waits at a prompt."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from speed.figures import Times, clocked
from speed.material import Material
from speed.sides import environment, installed_program, places

RUNS = 20
_FEW_RUNS = 5
"""Of what takes long."""
_TIMEOUT_S = 120.0

SEARCH = "`indexer search` through the running daemon"


@dataclass(frozen=True, slots=True)
class Command:
    """Times of one command, start of the process to its end; a `note` says what went wrong."""

    name: str
    times: Times
    note: str = ""


def with_daemon(material: Material, queries: Sequence[str]) -> list[Command]:
    """While a daemon runs."""
    program, at = installed_program(), places(material)
    return [
        _run("`python -c pass`, for comparison", material, [[sys.executable, "-c", "pass"]] * RUNS),
        _run("`indexer --help`", material, [[*program, "--help"]] * RUNS),
        _run(SEARCH, material, [[*program, "search", query, *at] for query in _some(queries, RUNS)]),
    ]


def without_daemon(material: Material, queries: Sequence[str]) -> list[Command]:
    """While none runs: everything is loaded for one search, and the vault is looked through before it."""
    program, at = installed_program(), places(material)
    commands = [[*program, "search", query, *at] for query in _some(queries, _FEW_RUNS)]
    return [_run("`indexer search` without a daemon", material, commands)]


def _some(queries: Sequence[str], count: int) -> list[str]:
    step = max(1, len(queries) // count)
    return [queries[at % len(queries)] for at in range(0, count * step, step)]


def _run(name: str, material: Material, commands: Sequence[Sequence[str]]) -> Command:
    taken: list[float] = []
    for command in commands:
        try:
            ms, ended = clocked(
                lambda: subprocess.run(
                    command,  # noqa: B023 (called at once)
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_TIMEOUT_S,
                    env=environment(material.environ),
                    check=False,
                )
            )
        except subprocess.TimeoutExpired:
            return Command(name, Times.of(taken), f"given up after {_TIMEOUT_S:.0f} s")
        if ended.returncode not in (0, 1):  # 1 is "nothing was found"
            last = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            return Command(name, Times.of(taken), f"exit status {ended.returncode}: {' '.join(last)}")
        taken.append(ms)
    return Command(name, Times.of(taken))
