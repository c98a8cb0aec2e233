"""`indexer service`: the daemon that the system starts at login."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.autostart import (
    SUPERVISORS,
    Environment,
    ServiceSpec,
    ServiceStatus,
    Supervisor,
    supervisor,
    supervisor_of_platform,
)
from vault_indexer.cli.commands.start import end_daemon
from vault_indexer.cli.connection.connect import known_daemon_folder
from vault_indexer.cli.connection.daemon_command import indexer_command, place_options
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection, command_group
from vault_indexer.cli.vault_folder import vaults_in_config
from vault_indexer.config import load
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon
from vault_indexer.errors import ServiceError, UsageError, VaultError
from vault_indexer.system import canonical_folder, home_folder, log_dir, with_home
from vault_indexer.text.control_characters import clean

System = Annotated[
    str,
    typer.Option(
        "--system",
        metavar="NAME",
        help=f"The service manager: {', '.join(SUPERVISORS)} [that of this system].",
    ),
]


def install(
    selection: VaultSelection,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the service file instead of installing it.")
    ] = False,
    system: System = "",
) -> None:
    """Let the system start the daemon at login and after a failure, and start it now."""
    name, chosen = service_manager(system)
    environ = os.environ
    vault = _named_vault(selection, environ)
    if vault is not None and not vault.is_dir():
        raise VaultError(f"no such vault: {vault}")
    options = {"index.dir": selection.index_dir}
    settings = load(vault, config_file=selection.config, environ=environ, options=options).settings
    if vault is None and settings.vault is None and not settings.vaults:
        raise UsageError('No vault here. Run "indexer init ~/Notes" once, or add --vault DIR.')
    spec = _spec(selection, vault, environ)
    service = chosen.name_of(vault)
    if print_only:
        sys.stdout.write(chosen.definition(spec))
        note(f"would be written: {chosen.place(service)}")
        return
    spec.log_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = vault if _keeps_all(selection, vault, environ) else vault or settings.vault
    # The daemon of the service cannot start while another one has locked the index.
    _end_other_daemon(selection, kept, chosen.status(service))
    changed = chosen.install(spec)
    note(f"{'installed' if changed else 'already installed'}: {chosen.place(service)}")
    for hint in _hints(name, spec, environ):
        note(hint)


def uninstall(selection: VaultSelection, system: System = "") -> None:
    """Stop the service and remove it. The index stays."""
    _, chosen = service_manager(system)
    service = chosen.name_of(_named_vault(selection, os.environ))
    gone = chosen.uninstall(service)
    note(f"removed: {chosen.place(service)}" if gone else f"not installed: {chosen.place(service)}")


def status(selection: VaultSelection, output: Output, system: System = "") -> int:
    """Show whether the service is installed and running. Exit status 1 if it is not installed."""
    name, chosen = service_manager(system)
    vault = _named_vault(selection, os.environ)
    service = chosen.name_of(vault)
    found = chosen.status(service)
    folder = _daemon_folder(selection, vault)
    running = read_daemon(folder) if folder else None
    place = chosen.place(service)
    if output.json:
        daemon = {"pid": running.pid, "url": running.url} if running else None
        print_json({"system": name, "name": service, "definition": place, **asdict(found), "daemon": daemon})
    else:
        for label, value, style in _rows(place, found, running):
            out().print(text((f"{label:<10}", "dim"), (value, style)))
    return 0 if found.installed else 1


def logs(
    selection: VaultSelection,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=1, max=1_000_000, metavar="N", help="The number of lines.")
    ] = 100,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep printing new lines (journal).")
    ] = False,
    system: System = "",
) -> int:
    """Print the last lines of the service's log."""
    _, chosen = service_manager(system)
    vault = _named_vault(selection, os.environ)
    service = chosen.name_of(vault)
    command = chosen.log_command(service, lines, follow=follow)
    if command:
        try:
            return subprocess.run(command, check=False).returncode
        except FileNotFoundError as error:
            raise ServiceError(f"{command[0]} is not installed") from error
    spec = _spec(selection, vault, os.environ)
    log = spec.log_file(service)
    if follow:
        raise UsageError(f"--follow requires systemd's journal; the log of this service is the file {log}")
    files = [file for file in (log.with_suffix(".err"), log) if file.is_file()]
    if not files:
        raise ServiceError(f"there is no log yet: {log}")
    for file in files:
        with file.open(encoding="utf-8", errors="replace") as log_lines:
            for line in deque(log_lines, maxlen=lines):
                sys.stdout.write(f"{clean(line.rstrip())}\n")
    return 0


def service_manager(system: str) -> tuple[str, Supervisor]:
    """The service manager of that name, or of this system, for this user."""
    name = system or supervisor_of_platform(sys.platform)
    return name, supervisor(name, _environment(os.environ))


def _environment(environ: Mapping[str, str]) -> Environment:
    names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME")
    variables = {name: environ[name] for name in names if os.path.isabs(environ.get(name, ""))}  # noqa: PTH117
    home = home_folder()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    if home is None or not user:
        raise ServiceError("a service needs a user name and a home folder: set USER and HOME")
    if sys.platform == "win32" and environ.get("USERDOMAIN"):
        user = f"{environ['USERDOMAIN']}\\{user}"
    return Environment(home, user, variables)


def _named_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The vault of the option or the variable, not of the current folder: a service does not run in it."""
    named = selection.vault or environ.get("INDEXER_VAULT")
    return canonical_folder(with_home(named)) if named else None


def _spec(selection: VaultSelection, vault: Path | None, environ: Mapping[str, str]) -> ServiceSpec:
    options = place_options(selection, vault, environ)
    if _keeps_all(selection, vault, environ):
        options.append("--all-vaults")
    command = tuple(indexer_command("serve", *options))
    return ServiceSpec(vault, command, log_dir(environ), _environment(environ))


def _keeps_all(selection: VaultSelection, vault: Path | None, environ: Mapping[str, str]) -> bool:
    """Whether the service serves all vaults of the table `[vaults]`: no vault and no index is given."""
    named_index = selection.index_dir or environ.get("INDEXER_INDEX_DIR")
    return vault is None and not named_index and bool(vaults_in_config(selection, environ))


def _daemon_folder(selection: VaultSelection, vault: Path | None) -> Path | None:
    """The folder of the service's `daemon.json`; None if it is unknown."""
    own = VaultSelection(vault, selection.index_dir, selection.config)
    return known_daemon_folder(own, is_shared=_keeps_all(selection, vault, os.environ))


def _end_other_daemon(selection: VaultSelection, vault: Path | None, status: ServiceStatus) -> None:
    """Stops a daemon that was started in another way and has locked the index."""
    folder = _daemon_folder(selection, vault)
    info = read_daemon(folder) if folder else None
    if folder is None or info is None or info.pid == status.pid:
        return
    end_daemon(info, folder)
    note(f"stopped: process {info.pid}; the service takes its place")


def _hints(name: str, spec: ServiceSpec, environ: Mapping[str, str]) -> list[str]:
    """Hints for the user about the installed service."""
    carried = {"INDEXER_VAULT", "INDEXER_INDEX_DIR", "INDEXER_CONFIG"}
    left = sorted(key for key in environ if key.startswith("INDEXER_") and key not in carried)
    hints = []
    if left:
        hints.append(f"not part of the service: {', '.join(left)}; set these keys in the configuration")
    user = spec.environment.user
    if name == "systemd" and not Path("/var/lib/systemd/linger", user).exists():
        hints.append(f"the service starts when you log in; `loginctl enable-linger {user}` starts it at boot")
    return hints


def _rows(definition: str, found: ServiceStatus, running: DaemonInfo | None) -> list[tuple[str, str, str]]:
    rows = [
        ("service", definition, "bold"),
        ("installed", "yes" if found.installed else "no", "green" if found.installed else "yellow"),
        ("at login", "yes" if found.enabled else "no", "green" if found.enabled else "yellow"),
        ("state", found.detail, "green" if found.running else "yellow"),
        ("process", str(found.pid) if found.pid else "", ""),
        ("daemon", f"process {running.pid} at {running.url}" if running else "", "green"),
    ]
    return [row for row in rows if row[1]]


app = command_group(install=install, uninstall=uninstall, status=status, logs=logs)
