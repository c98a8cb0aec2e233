"""Running the programs by which a system is asked."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from vault_indexer.errors import ServiceError

_TIMEOUT_S = 120.0
"""systemd may wait `END_S` for a daemon to end, and stop it before it starts it."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a program ended, and what it wrote."""

    status: int
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """What it said, in one line."""
        return " ".join((self.errors or self.output).split()) or f"exit status {self.status}"


def ask(*command: str) -> CommandResult:
    """Run a program that asks, whatever it answers. Raises ServiceError where it is missing or hangs."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise ServiceError(f"{command[0]} is not installed: this system has no such services") from error
    except subprocess.TimeoutExpired as error:
        raise ServiceError(f"`{' '.join(command)}` has not ended within {_TIMEOUT_S:g} s") from error
    except OSError as error:
        raise ServiceError(f"{command[0]} cannot be run: {error.strerror}") from error
    return CommandResult(done.returncode, done.stdout, done.stderr)


def tell(*command: str) -> None:
    """Run a program that does something. Raises ServiceError with its words if it failed."""
    result = ask(*command)
    if result.status:
        raise ServiceError(f"`{' '.join(command)}` failed: {result.reason}")
