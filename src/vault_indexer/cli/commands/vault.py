"""`indexer vault add`, `list` and `remove`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, flatten_parameters
from vault_indexer.cli.terminal import note, out, print_json, text
from vault_indexer.cli.vault_folder import config_of
from vault_indexer.config import (
    NamedVault,
    add_vault,
    load_own,
    remove_vault,
    user_config_file,
    vaults_of,
)
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon, shared_daemon_dir
from vault_indexer.errors import VaultIndexerError
from vault_indexer.serve.client import DaemonClient, NotListeningError
from vault_indexer.serve.endpoints import VAULTS
from vault_indexer.serve.shapes import VaultJson, VaultsJson
from vault_indexer.text.counts import quantity
from vault_indexer.vault import root_identity

Name = Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits and hyphens.")]


def add(
    name: Name,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of notes.")],
    place: Place,
) -> None:
    """Add a vault to the table [vaults] of your configuration. Nothing else in the file changes."""
    file = _file(place)
    root_identity(folder.expanduser())
    path = folder.expanduser().absolute()
    index_dir = place.index_dir.expanduser().absolute() if place.index_dir else None
    add_vault(file, NamedVault(name, path, index_dir))
    note(f"added to {file}: {name}, {path}")
    if _daemon(place) is not None:
        note("the daemon opens it now; `indexer vault list` shows its state")


def remove(name: Name, place: Place) -> None:
    """Remove a vault from the table [vaults]. Its notes and its index stay where they are, and what is
    published of it on a Milvus server, too: `indexer unpublish` removes that."""
    file = _file(place)
    remove_vault(file, name)
    note(f"removed from {file}: {name}; its notes and its index stay")
    if _daemon(place) is not None:
        note("the daemon closes it now")


def list_vaults(place: Place, output: Output) -> None:
    """List the vaults of the table [vaults], with their state if a daemon keeps them."""
    listed = _vaults(place)
    if output.json:
        print_json(listed)
        return
    found = listed["vaults"]
    if listed["problem"]:
        note(listed["problem"])
    if not found:
        note("there are no vaults: add one by `indexer vault add NAME DIR`")
    width = max((len(one["name"]) for one in found), default=0)
    console = out()
    for one in found:
        is_good = one["state"] in ("ready", "indexing")
        console.print(
            text(
                (f"{one['name']:<{width}}  ", "bold"),
                (one["path"], ""),
                (f"  {one['state']}", "green" if is_good else "yellow"),
                (f"  {quantity(one['notes'], 'note')}" if one["notes"] else "", "dim"),
                (f", {quantity(one['pending'], 'change')} pending" if one["pending"] else "", "yellow"),
                (f"  {one['problem']}" if one["problem"] else "", "yellow"),
            )
        )


def _vaults(place: Place) -> VaultsJson:
    """As the daemon of all vaults tells, and those that it does not keep yet."""
    settings = load_own(config_of(place, os.environ), os.environ).settings
    answered = _kept(place)
    kept = {one["name"]: one for one in answered["vaults"]}
    named = {one.name: one for one in vaults_of(settings.vaults, settings.vault)}
    found = [kept.get(name) or _not_kept(named[name]) for name in sorted({*named, *kept})]
    # A daemon of an earlier version knows no problem.
    return {"vaults": found, "problem": answered.get("problem", "")}


def _kept(place: Place) -> VaultsJson:
    info = _daemon(place)
    try:
        if info is not None:
            return DaemonClient(info).ask(VAULTS)
    except NotListeningError:
        pass  # it is ending
    return {"vaults": [], "problem": ""}


def _not_kept(named: NamedVault) -> VaultJson:
    problem = ""
    try:
        root_identity(named.path)
    except VaultIndexerError as error:
        problem = str(error)
    state = "unavailable" if problem else "not running"
    path = str(named.path)
    return {"name": named.name, "path": path, "state": state, "notes": 0, "pending": 0, "problem": problem}


def _daemon(place: Place) -> DaemonInfo | None:
    return read_daemon(shared_daemon_dir(config_of(place, os.environ)))


def _file(place: Place) -> Path:
    return config_of(place, os.environ) or user_config_file(os.environ)


app = typer.Typer(no_args_is_help=True)
app.command("add")(flatten_parameters(add))
app.command("list")(flatten_parameters(list_vaults))
app.command("remove")(flatten_parameters(remove))
