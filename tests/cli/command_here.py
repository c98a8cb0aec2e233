"""The command in this process: for the many ways in which it can end, each with its words and its status."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, TERMINAL_VARIABLES, Ran, Sandbox

from vault_indexer.cli.app import run


class TerminalText(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True


def set_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Variables of a terminal with colours, so wide."""
    for name in TERMINAL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))


class CommandHere:
    """`indexer` with the environment of a sandbox and in its folder, while a test runs."""

    def __init__(
        self, sandbox: Sandbox, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.sandbox = sandbox
        self._capture = capture
        self._monkeypatch = monkeypatch
        for name in [name for name in os.environ if name.startswith("INDEXER_")]:
            monkeypatch.delenv(name)
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in (sandbox.environ | PLAIN_MODEL).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(sandbox.root)

    @property
    def config(self) -> Path:
        """The user's own configuration, which need not exist."""
        return self.sandbox.root / "config" / "vault-indexer" / "config.toml"

    @property
    def daemons(self) -> Path:
        """Where a daemon of all vaults is announced."""
        return self.sandbox.root / "state" / "vault-indexer" / "daemons" / "all"

    def configure(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Ran:
        """`indexer ARGUMENTS`; fails where an error gets out that no user should see."""
        code = _status(arguments)
        printed = self._capture.readouterr()
        return Ran(code, printed.out, printed.err)

    def indexer(self, *arguments: str) -> Ran:
        """`indexer ARGUMENTS` on this vault and index."""
        return self.run(*arguments, *self.sandbox.place)

    def terminal(self, *arguments: str, columns: int = 80) -> Ran:
        """`indexer ARGUMENTS` on this vault and index, at a terminal: `out` is all that it is sent."""
        set_terminal(self._monkeypatch, columns)
        shown = TerminalText()
        with redirect_stdout(shown), redirect_stderr(shown):
            code = _status((*arguments, *self.sandbox.place))
        return Ran(code, shown.getvalue(), "")


def _status(arguments: Sequence[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    code = ended.value.code or 0
    assert isinstance(code, int)
    return code
