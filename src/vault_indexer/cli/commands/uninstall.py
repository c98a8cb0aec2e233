"""`indexer uninstall`: removes the files that the program has written outside of vaults."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from vault_indexer.cli.commands.service import service_manager
from vault_indexer.cli.commands.start import daemons_of_all, end_daemon
from vault_indexer.cli.known_vaults import delete_entry, delete_index, is_index, recorded_vaults
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.cli.vault_folder import config_file_of, config_of, vaults_in_config
from vault_indexer.config import load_own, vaults_of
from vault_indexer.errors import ServiceError, UsageError
from vault_indexer.system import (
    default_index_dir,
    in_words,
    log_dir,
    resolved,
    size_of,
    state_folder,
    user_config_file,
)
from vault_indexer.text.control_characters import clean

_RECORDS = ("vaults", "daemons", "logs")
"""The subfolders of the state folder that contain no index."""


class _Removal(NamedTuple):
    """Something to remove: its description for the user, and the function that removes it."""

    shown: str
    remove: Callable[[], object]


def uninstall(
    selection: VaultSelection,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove without asking.")] = False,
) -> None:
    """Remove indices, services, records and your configuration. Notes and vaults are not touched.

    Stops the daemons first. Grades and cases of `indexer eval` stay. The package itself is removed by pipx,
    uv or pip.
    """
    daemons, vaults = daemons_of_all(selection), _vaults(selection)
    removals = [*_services(vaults), *_indices(selection), *_records(vaults)]
    file = config_file_of(selection, os.environ)
    if file.is_file():
        removals.append(_Removal(f"configuration  {file}", file.unlink))
    for info, _ in daemons:
        note(f"daemon         process {info.pid}")
    for removal in removals:
        note(clean(removal.shown))
    if not (daemons or removals):
        note("Nothing is left to remove.")
    elif dry_run:
        note("Nothing was removed (--dry-run).")
    else:
        _confirm(yes)
        for info, folder in daemons:
            end_daemon(info, folder)
        for removal in removals:
            removal.remove()
        for folder in (*_state_folders(), user_config_file(os.environ).parent):
            with suppress(OSError):  # other files stay, or it does not exist
                folder.rmdir()
            if folder.is_dir():
                note(f"Other files stay in {clean(str(folder))}.")
        note("Removed. Your notes are unchanged. Now remove the package: pipx uninstall vault-indexer")


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("uninstall: add --yes to remove this without a question")
    if not typer.confirm("Remove all of this?", err=True):
        raise UsageError("nothing was removed")


def _state_folders() -> list[Path]:
    """The folder of records and the parent of default index folders, which differ where XDG_STATE_HOME is
    set on a system without it."""
    return list(dict.fromkeys((state_folder(), log_dir(os.environ).parent)))


def _vaults(selection: VaultSelection) -> list[Path]:
    recorded = (known.folder for known in recorded_vaults())
    return list(dict.fromkeys((*vaults_in_config(selection, os.environ).values(), *recorded)))


def _services(vaults: Sequence[Path]) -> Iterator[_Removal]:
    _, manager = service_manager("")
    for service in dict.fromkeys(manager.name_of(vault) for vault in (None, *vaults)):
        place = manager.place(service)
        try:
            installed = manager.status(service).installed
        except ServiceError:  # the service manager does not run, but its file can be there
            installed = False
        if installed:
            yield _Removal(f"service        {place}", partial(manager.uninstall, service))
        elif Path(place).is_file():
            yield _Removal(f"service        {place}", Path(place).unlink)


def _indices(selection: VaultSelection) -> Iterator[_Removal]:
    folders = [Path(known.index_dir) for known in recorded_vaults()]
    settings = load_own(config_of(selection, os.environ), os.environ).settings
    named = vaults_of(settings.vaults, settings.vault)
    folders += [one.index_dir or default_index_dir(one.path, os.environ) for one in named]
    for folder in _state_folders():
        with suppress(OSError):
            folders += sorted(folder.iterdir())
    for folder in filter(is_index, dict.fromkeys(folders)):
        yield _Removal(f"index          {folder} ({in_words(size_of(folder))})", partial(_delete, folder))


def _delete(index_dir: Path) -> None:
    if not delete_index(index_dir):
        note(f"Other files stay in {clean(str(index_dir))}.")


def _records(vaults: Sequence[Path]) -> Iterator[_Removal]:
    for folder in (state / name for state in _state_folders() for name in _RECORDS):
        contains_notes = any(resolved(vault).is_relative_to(resolved(folder)) for vault in vaults)
        if folder.is_dir() and not folder.is_symlink() and not contains_notes:
            yield _Removal(f"records        {folder}", partial(delete_entry, folder))


app = one_command(uninstall)
