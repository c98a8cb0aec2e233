"""The command as a user runs it: a process of its own, a vault, a home that is empty."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waiting import PROCESS_S

NOTES = {
    "Welcome.md": "# Welcome\n\nStart with [[Bread]] or read about the [[Night sky]].\n\nThen [[Nowhere]].\n",
    "Kitchen/Bread.md": (
        "---\naliases: [Sourdough]\ntags: [kitchen]\n---\n"
        "# Bread\n\nFlour, water, salt and a ripe starter.\n\n"
        "## Kneading\n\nKnead the dough until it is smooth, then let it rest in a warm place. ^rest\n"
    ),
    "Sky/Night sky.md": (
        "# Night sky\n\nThe telescope shows the rings of Saturn on a clear night.\n\n"
        "Bring a thermos and some [[Bread#Kneading|bread]].\n"
    ),
}


PLAIN_MODEL = {"INDEXER_EMBEDDING_PROVIDER": ""}
"""For a sandbox with the model of a plain installation."""

TERMINAL_VARIABLES = frozenset({"NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"})


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """Standard output as one JSON object; fails where anything else stands there."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    def complains(self, *parts: str) -> bool:
        """Whether standard error is in our words, holds these, and no traceback."""
        return "Traceback" not in self.err and all(part in self.err for part in parts)


@dataclass(frozen=True)
class Sandbox:
    """A folder with a vault in it; everything a command writes stays in the folder. Its model is the one that
    loads fastest, unless `variables` name another."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def vault(self) -> Path:
        return self.root / "vault"

    @property
    def index_dir(self) -> Path:
        return self.root / "index"

    @property
    def place(self) -> tuple[str, ...]:
        """The options that name this vault and index."""
        return ("--vault", str(self.vault), "--index-dir", str(self.index_dir))

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
        own = {
            "HOME": str(self.root / "home"),
            "USERPROFILE": str(self.root / "home"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "COLUMNS": "200",
            "INDEXER_EMBEDDING_PROVIDER": "wordllama",
        }
        return {**kept, **own, **self.variables}

    def run(
        self,
        *arguments: str,
        code: str | None = None,
        cwd: Path | None = None,
        stdin: str = "",
        timeout: float = PROCESS_S,
    ) -> Ran:
        """`indexer ARGUMENTS` in a folder, or the Python `code` instead."""
        program = ["-c", code] if code is not None else ["-m", "vault_indexer.cli"]
        return self.run_program([sys.executable, *program, *arguments], cwd=cwd, stdin=stdin, timeout=timeout)

    def run_program(
        self, command: Sequence[str], *, cwd: Path | None = None, stdin: str = "", timeout: float = PROCESS_S
    ) -> Ran:
        """A program with the sandbox's environment, in a folder."""
        done = subprocess.run(
            command,
            env=self.environ,
            cwd=cwd or self.root,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def serve(self) -> subprocess.Popen[str]:
        """`indexer serve` on this vault and index, once it answers."""
        process = subprocess.Popen(
            [sys.executable, "-m", "vault_indexer.cli", "serve", *self.place],
            env=self.environ,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if "http://127.0.0.1:" in line:
                return process
        raise AssertionError("".join(said))

    def indexer(self, *arguments: str, stdin: str = "", timeout: float = PROCESS_S) -> Ran:
        """`indexer ARGUMENTS` on this vault and index."""
        return self.run(*arguments, *self.place, stdin=stdin, timeout=timeout)

    def terminal(
        self, *arguments: str, columns: int = 80, code: str | None = None, timeout: float = PROCESS_S
    ) -> Ran:
        """`indexer ARGUMENTS` on this vault and index, or the Python `code` instead, at a terminal: `out` is
        all that it shows."""
        import pty  # not on Windows

        master, slave = pty.openpty()
        program = ["-c", code] if code is not None else ["-m", "vault_indexer.cli"]
        kept = {name: value for name, value in self.environ.items() if name not in TERMINAL_VARIABLES}
        with subprocess.Popen(
            [sys.executable, *program, *arguments, *self.place],
            env={**kept, "TERM": "xterm-256color", "COLUMNS": str(columns)},
            cwd=self.root,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        ) as process:
            os.close(slave)
            shown = _read_all(master, time.monotonic() + timeout)
            status = process.wait(timeout)
        return Ran(status, shown.replace("\r\n", "\n"), "")

    def daemon_file(self) -> dict[str, object]:
        found = json.loads((self.index_dir / "daemon.json").read_text())
        assert isinstance(found, dict)
        return found


def _read_all(master: int, deadline: float) -> str:
    """What is written to a terminal until its last writer has ended."""
    parts = []
    with open(master, "rb", buffering=0) as terminal:
        while True:
            ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the command did not end in time"
            try:
                part = terminal.read(65536)
            except OSError:  # EIO: Linux' way to say that nobody writes any more
                break
            if not part:
                break
            parts.append(part)
    return b"".join(parts).decode()


def index_at(folder: Path) -> Path:
    """A folder that looks like a complete index."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "CURRENT").write_text("0001\n")
    return folder


def make(root: Path) -> Sandbox:
    sandbox = Sandbox(root)
    for path, text in NOTES.items():
        sandbox.write(path, text)
    return sandbox
