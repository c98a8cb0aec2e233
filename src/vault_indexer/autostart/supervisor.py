"""The service to keep running, and the interface to the system that does so."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from vault_indexer.errors import ServiceError, UsageError
from vault_indexer.system import record, write_atomically

RESTART_S = 30
"""Between the end of a daemon that failed and its next start."""

RESTARTS = 10
RESTARTS_WITHIN_S = 15 * 60
"""More starts than this within this time: the daemon stays down. Ten starts take at least five minutes, so a
disk that is mounted late is waited for, and a daemon that fails once a month is always started again."""

NICE = 10
END_S = 30
"""A daemon that was asked to end does so within two seconds; then it is killed."""

CONFIGURATION_IS_WRONG = 2
"""Exit status of `indexer serve` for a mistake that another start would meet again."""


@record
class Environment:
    """The values that a service inherits from its installer: only the folders of configuration and state.

    Secrets have no place in a definition, which other programs read and backups copy.
    """

    home: Path
    user: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """`XDG_CONFIG_HOME` and `XDG_STATE_HOME`, as far as they are set to absolute paths."""

    @property
    def config_home(self) -> Path:
        """The folder of the user's configuration files, by the XDG base directory specification."""
        chosen = self.variables.get("XDG_CONFIG_HOME")
        return Path(chosen) if chosen else self.home / ".config"


@record
class ServiceSpec:
    """A daemon that is to run again after a restart.

    `command` is absolute and runs in the foreground. `vault` is the one that it names; None if the
    configuration names the vaults. `log_folder` is for systems without a journal: it contains the log and the
    output to standard error.
    """

    vault: Path | None
    command: tuple[str, ...]
    log_folder: Path
    environment: Environment

    def log_file(self, name: str) -> Path:
        return self.log_folder / f"{name}.log"

    @property
    def description(self) -> str:
        return f"vault-indexer: search of {self.vault or 'the configured vaults'}"


@record
class ServiceStatus:
    """A service as its system sees it. `pid` is 0 if none runs or the system does not report it; `detail` is
    in the system's own words."""

    installed: bool
    enabled: bool = False
    running: bool = False
    pid: int = 0
    detail: str = ""


class Supervisor(ABC):
    """A system that starts programs at login and again when they fail.

    Every method except `name_of`, `definition` and `place` runs a program of the system. They raise
    ServiceError with the output of that program, or if it is missing.
    """

    def name_of(self, vault: Path | None) -> str:
        """The name of the service of a vault, or of the configuration's vaults (None). No two vaults share
        one. Raises UsageError for a path that no definition can contain."""
        return slug(vault)

    @abstractmethod
    def place(self, name: str) -> str:
        """The location of the definition of a service: a file, or a name in the system's own store."""

    @abstractmethod
    def definition(self, spec: ServiceSpec) -> str:
        """The whole definition as text. Raises UsageError for a command that it cannot contain."""

    @abstractmethod
    def install(self, spec: ServiceSpec) -> bool:
        """Writes the definition, lets it start at login, and starts it now. Returns whether the definition
        was written: a service that is already installed as it should be is only started."""

    @abstractmethod
    def uninstall(self, name: str) -> bool:
        """Stops the service and removes it. Returns whether there was one."""

    @abstractmethod
    def status(self, name: str) -> ServiceStatus: ...

    def log_command(self, name: str, lines: int, *, follow: bool) -> list[str]:  # noqa: ARG002 - of a file
        """The program that prints the last lines of the log; empty if the service writes a file."""
        return []


# Running the programs by which a system is asked.


_TIMEOUT_S = 120.0
"""systemd may wait `END_S` for a daemon to end, and stop it before it starts it."""


@record
class CommandResult:
    """The exit status and the output of a program."""

    status: int
    output: str
    errors: str

    @property
    def reason(self) -> str:
        return " ".join((self.errors or self.output).split()) or f"exit status {self.status}"


def ask(*command: str) -> CommandResult:
    """Runs a query, whatever its exit status. Raises ServiceError if its program cannot run or hangs."""
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
    """Runs a program that does something. Raises ServiceError with its output if it failed."""
    result = ask(*command)
    if result.status:
        raise ServiceError(f"`{' '.join(command)}` failed: {result.reason}")


def write_definition(file: Path, text: bytes) -> None:
    """Writes the definition of a service. Raises ServiceError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text, mode=0o644)
    except OSError as error:
        raise ServiceError(f"cannot write {file}: {error.strerror}") from error


# Names of services, made of the paths of vaults.


PREFIX = "vault-indexer"

_LONGEST = 200
"""systemd's names have at most 255 characters, the suffix and what it appends itself included."""

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.")
_ESCAPE_CUT = re.compile(r"\\(x[0-9a-f]?)?\Z")


def refuse_control_characters(text: str) -> str:
    """The text. Raises UsageError if it has a line break or another control character: a definition is text
    of lines, and a path that needs one is a mistake."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise UsageError(f"a service cannot have a path with control characters: {text!r}; rename the folder")
    return text


def escape_path(path: str) -> str:
    r"""A path as a part of a unit's name, as `systemd-escape --path` writes it: `/` becomes `-`, and every
    other byte that is not a letter, digit, `:`, `_` or `.` becomes `\xNN`. So does a leading `.`."""
    raw = b"/".join(part for part in os.fsencode(path).split(b"/") if part)
    if not raw:
        return "-"
    return "".join(
        "-" if byte == 0x2F else chr(byte) if byte in _PLAIN and (at or byte != 0x2E) else f"\\x{byte:02x}"
        for at, byte in enumerate(raw)
    )


def unit_name(vault: Path | None) -> str:
    """`vault-indexer-home-me-Notes`; a longer one is cut, and ends in a hash of the path instead."""
    if vault is None:
        return PREFIX
    escaped = escape_path(refuse_control_characters(str(vault)))
    if len(escaped) > _LONGEST:
        escaped = f"{_ESCAPE_CUT.sub('', escaped[:_LONGEST])}-{_digest(vault)}"
    return f"{PREFIX}-{escaped}"


def slug(vault: Path | None) -> str:
    """A name for systems whose names have no escapes: the folder's name, as far as its letters are plain, and
    a hash of the whole path (16 hex digits of SHA-256)."""
    if vault is None:
        return PREFIX
    refuse_control_characters(str(vault))
    name = re.sub(r"[^A-Za-z0-9_]+", "-", vault.name).strip("-")[:40] or "vault"
    return f"{PREFIX}-{name}-{_digest(vault)}"


def _digest(vault: Path) -> str:
    return hashlib.sha256(os.fsencode(vault)).hexdigest()[:16]
