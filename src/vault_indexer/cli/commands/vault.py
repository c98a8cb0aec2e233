"""`indexer vault add`, `list` and `remove`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.commands.status import state_in_words
from vault_indexer.cli.connection.in_process import NO_VAULTS
from vault_indexer.cli.known_vaults import (
    delete_index,
    forget_vault,
    free_name,
    has_index,
    known_vaults,
    recorded_vaults,
    remember_vault,
)
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import (
    Output,
    VaultSelection,
    Yes,
    command_group,
    complete_vault,
    confirm_folder,
)
from vault_indexer.cli.vault_folder import config_file_of, config_of, vaults_in_config
from vault_indexer.config import NamedVault, Settings, add_vault, load_own, remove_vault, vaults_of
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon, shared_daemon_dir
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.serve.api.endpoints import VAULTS
from vault_indexer.serve.client import DaemonClient, NotListeningError
from vault_indexer.system import canonical_folder, default_index_dir, folder_slug, quoted_word, with_home
from vault_indexer.text.phrases import quantity
from vault_indexer.vault import root_identity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import VaultListJson, VaultSummaryJson

_CLOSE_S = 60.0
"""The time that the shared daemon has to close a vault."""


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits and hyphens.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of notes.")],
    selection: VaultSelection,
    yes: Yes = False,
) -> None:
    """Add a vault to your configuration, and change nothing else in it."""
    file = config_file_of(selection, os.environ)
    root_identity(with_home(folder))
    path = with_home(folder).absolute()
    confirm_folder(path, yes)
    index_dir = with_home(selection.index_dir).absolute() if selection.index_dir else None
    add_vault(file, NamedVault(name, path, index_dir))
    note(f"Added {name} ({path}) to {file}.")
    if _daemon(selection) is not None:
        note("The running daemon indexes it now (indexer status).")


def remove(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=complete_vault, help="The vault's name in the list, or its folder."
        ),
    ],
    selection: VaultSelection,
    delete: Annotated[bool, typer.Option("--delete-index", help="Also delete its index.")] = False,
) -> None:
    """Remove a vault from your configuration. Its notes stay, and so does its index unless you add
    --delete-index.

    Its publication on a Milvus server also stays: `indexer gateway unpublish` removes it.
    """
    found = _removable(name, selection)
    vault, index_dir = found.path, found.index_dir or default_index_dir(found.path, os.environ)
    daemon = _daemon(selection)
    if delete:
        keeper = read_daemon(index_dir)
        # Only the shared daemon follows the table and closes the index.
        if keeper is not None and (daemon is None or keeper.pid != daemon.pid):
            raise UsageError(
                f"Its daemon is running. Stop it first: indexer stop --vault {quoted_word(name)}"
            )
    if found.name in vaults_in_config(selection, os.environ):
        remove_vault(config_file_of(selection, os.environ), found.name)
        note(f"Removed {found.name} from {config_file_of(selection, os.environ)}. Its notes stay.")
        if daemon is not None:
            note("The running daemon closes it now.")
    if not delete:
        remember_vault(vault, index_dir, is_removed=True)
        if has_index(index_dir):
            note(f"Its index stays in {index_dir} (--delete-index deletes it).")
        return
    if has_index(index_dir):
        gone = delete_index(index_dir, _CLOSE_S if daemon else 0)
        note(f"Deleted the index{'' if gone else f'; other files stay in {index_dir}'}.")
    forget_vault(vault)


def _removable(name: str, selection: VaultSelection) -> NamedVault:
    """The vault with this name or folder: one of `vault list`, or a left-over index, which may also be given
    by the folder of the index. Raises UsageError."""
    vaults = _named_vaults(load_own(config_of(selection, os.environ), os.environ).settings)
    by_folder = {canonical_folder(one.path): one for one in vaults.values()}
    records = {canonical_folder(one.folder): one for one in recorded_vaults()}
    folder = canonical_folder(vaults[name].path if name in vaults else with_home(Path(name)).absolute())
    if folder not in by_folder | records:
        other_names = ((path, (one.index_dir, folder_slug(one.folder))) for path, one in records.items())
        folder = next((path for path, names in other_names if name in names), folder)
    vault, record = by_folder.get(folder), records.get(folder)
    is_listed = vault is not None and vault.name in vaults_in_config(selection, os.environ)
    if record and not is_listed:
        return NamedVault("", record.folder, Path(record.index_dir))
    if vault:
        return vault
    there = ", ".join(sorted(vaults))
    raise UsageError(f"No vault is called {name}. {f'Your vaults: {there}.' if there else NO_VAULTS}")


def list_vaults(selection: VaultSelection, output: Output) -> None:
    """List your vaults, with their state if the daemon is running."""
    listed = _vaults(selection)
    if output.json:
        print_json(listed)
        return
    found = listed["vaults"]
    if listed["problem"]:
        note(listed["problem"])
    if not found:
        note(NO_VAULTS)
    width = max((len(one["name"]) for one in found), default=0)
    console = out()
    for one in found:
        is_good = one["state"] in ("ready", "indexing")
        console.print(
            text(
                (f"{one['name']:<{width}}  ", "bold"),
                (one["path"], ""),
                (f"  {state_in_words(one['state'])}", "green" if is_good else "yellow"),
                (f"  {quantity(one['notes'], 'note')}" if one["notes"] else "", "dim"),
                (f", {quantity(one['pending'], 'change')} pending" if one["pending"] else "", "yellow"),
                (f"  {one['problem']}" if one["problem"] else "", "yellow"),
            )
        )


def _vaults(selection: VaultSelection) -> VaultListJson:
    """The vaults as reported by the shared daemon, and those that it does not serve yet."""
    settings = load_own(config_of(selection, os.environ), os.environ).settings
    answered: VaultListJson = {"vaults": [], "problem": ""}
    if info := _daemon(selection):
        with suppress(NotListeningError):  # the daemon is exiting
            answered = DaemonClient(info).ask(VAULTS)
    kept = {one["name"]: one for one in answered["vaults"]}
    named = _named_vaults(settings)
    found = [kept.get(name) or _not_kept(named[name]) for name in sorted({*named, *kept})]
    # Daemons of earlier versions do not send `problem`.
    return {"vaults": found, "problem": answered.get("problem", "")}


def _named_vaults(settings: Settings) -> dict[str, NamedVault]:
    """The vaults of the configuration and the other indexed folders, by name."""
    named = {one.name: one for one in vaults_of(settings.vaults, settings.vault)}
    listed = {canonical_folder(one.path) for one in named.values()}
    for name, folder in known_vaults().items():
        if canonical_folder(folder) not in listed:
            free = free_name(name, named)
            named[free] = NamedVault(free, folder)
    return named


def _not_kept(named: NamedVault) -> VaultSummaryJson:
    problem = ""
    try:
        root_identity(named.path)
    except VaultIndexerError as error:
        problem = str(error)
    state = "unavailable" if problem else "not running"
    path = str(named.path)
    return {"name": named.name, "path": path, "state": state, "notes": 0, "pending": 0, "problem": problem}


def _daemon(selection: VaultSelection) -> DaemonInfo | None:
    return read_daemon(shared_daemon_dir(config_of(selection, os.environ)))


app = command_group(add=add, list=list_vaults, remove=remove)
