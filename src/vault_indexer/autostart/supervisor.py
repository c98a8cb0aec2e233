"""What is to be kept running, and what a system has to do for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class Environment:
    """What a service inherits from who installs it: the folders of configuration and state, and nothing else.

    Secrets have no place in a definition, which other programs read and backups copy.
    """

    home: Path
    user: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """`XDG_CONFIG_HOME` and `XDG_STATE_HOME`, as far as they are set to absolute paths."""

    @property
    def config_home(self) -> Path:
        """Where the user's programs have their configuration, by the XDG base directory specification."""
        chosen = self.variables.get("XDG_CONFIG_HOME")
        return Path(chosen) if chosen else self.home / ".config"


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """A daemon that is to be there after a restart.

    `command` is absolute and runs in the foreground. `vault` is the one that it names; None where the
    configuration says which. `log_folder` is for systems without a journal: the log and what is written to
    standard error lie there.
    """

    vault: Path | None
    command: tuple[str, ...]
    log_folder: Path
    environment: Environment

    def log_file(self, name: str) -> Path:
        """The log of the service `name`."""
        return self.log_folder / f"{name}.log"

    @property
    def description(self) -> str:
        """One line for people."""
        return f"vault-indexer: search of {self.vault or 'the configured vaults'}"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """A service as its system sees it. `pid` is 0 where none runs or the system does not tell; `detail` is
    in the system's own words."""

    installed: bool
    enabled: bool = False
    running: bool = False
    pid: int = 0
    detail: str = ""


class Supervisor(Protocol):
    """A system that starts programs at login and again when they fail.

    Every method but `name_of`, `definition` and `place` runs a program of the system. They raise
    ServiceError with what that program said, or where it is missing.
    """

    def name_of(self, vault: Path | None) -> str:
        """The name of the service of a vault, None for that of the configuration's vaults. Another vault has
        another name. Raises UsageError for a path that no definition can hold."""
        ...

    def place(self, name: str) -> str:
        """Where the definition of a service is kept: a file, or a name in the system's own store."""
        ...

    def definition(self, spec: ServiceSpec) -> str:
        """The whole definition as text. Raises UsageError for a command that it cannot hold."""
        ...

    def install(self, spec: ServiceSpec) -> bool:
        """Write the definition, let it start at login, and start it now. Whether anything was to be written:
        a service that is installed as it should be is only started."""
        ...

    def uninstall(self, name: str) -> bool:
        """Stop the service and remove it. Whether there was one."""
        ...

    def status(self, name: str) -> ServiceStatus:
        """The service as it is now."""
        ...

    def log_command(self, name: str, lines: int, *, follow: bool) -> list[str]:
        """The program that prints the last lines of the log; empty where the log is the service's file."""
        ...
