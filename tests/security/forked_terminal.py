"""Runs many commands, each at a pseudo-terminal of its own, in forks of one process that has loaded the
program: to load it for each takes half a second of processor time.

`python forked_terminal.py` reads a list of `[arguments, typed text]` as JSON from standard input, and
writes a list of `[exit status, what the terminal showed]` to standard output.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_indexer.cli.app import COMMANDS, main

_TIMEOUT_S = 300.0
"""For all commands together; one that waits for an answer that is not typed would wait for ever."""

Line = tuple[Sequence[str], str]
Shown = tuple[int, str]


def run_at_terminals(lines: Sequence[Line], environ: Mapping[str, str], cwd: Path) -> list[Shown]:
    """The exit status of each command, and all that its terminal showed."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(lines),
        env={**environ, "TERM": "xterm-256color", "COLUMNS": "80"},
        cwd=cwd,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return [(code, shown) for code, shown in json.loads(done.stdout)]


def _run(arguments: Sequence[str], typed: str) -> Shown:
    import pty  # Windows has none, and its tests are collected all the same

    process, terminal = pty.fork()
    if not process:
        _be_command(arguments)
    os.write(terminal, typed.encode())
    parts = []
    while part := _read(terminal):
        parts.append(part)
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), b"".join(parts).decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # EIO: Linux' way to say that nobody writes any more
        return b""


def _be_command(arguments: Sequence[str]) -> None:
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    code = 0
    try:
        try:
            main(arguments)
        except Exception as error:  # noqa: BLE001 - as the interpreter does it
            sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for command in COMMANDS:
        own = "" if "." in command.module else "vault_indexer.cli.commands."
        importlib.import_module(own + command.module.partition(":")[0])
    importlib.import_module("vault_indexer.bootstrap")
    sys.stdout.write(json.dumps([_run(arguments, typed) for arguments, typed in json.load(sys.stdin)]))
