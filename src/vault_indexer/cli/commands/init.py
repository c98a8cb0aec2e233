"""`indexer init [DIR]`: add a folder of notes and index it."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.known_vaults import free_name, has_index
from vault_indexer.cli.output.columns import skipped_in_words
from vault_indexer.cli.output.progress import Show, duration, showing
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection, Yes, confirm_folder, one_command
from vault_indexer.cli.vault_folder import (
    config_file_of,
    config_of,
    current_folder,
    is_pinned,
    named_or_enclosing_vault,
    vaults_in_config,
)
from vault_indexer.config import NamedVault, add_vault
from vault_indexer.config.documents import write_starter
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo, read_daemon, shared_daemon_dir
from vault_indexer.errors import DaemonError, UsageError
from vault_indexer.serve.api.endpoints import STATUS, VAULTS
from vault_indexer.serve.client import DaemonClient
from vault_indexer.system import folder_slug, resolved, with_home
from vault_indexer.text.phrases import quantity
from vault_indexer.vault import IgnoreRules, file_names, root_identity

_NOTICED_S = 30.0
"""A daemon checks its configuration every few seconds."""

_LOOK_EVERY_S = 0.1

_NOT_OPENED = frozenset({"unavailable", "locked", "unusable"})

_NEXT_STEPS = (
    "Next:",
    "  indexer search a few words   find notes by meaning, word and link",
    "  indexer open                 the same in your browser",
    "  indexer start                keep the index up to date while you write",
)


def init(
    selection: VaultSelection,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder of notes [the current folder].")
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The name of the vault [that of its folder].")
    ] = "",
    yes: Yes = False,
    force: Annotated[bool, typer.Option("--force", hidden=True)] = False,
) -> None:
    """Add a folder of notes to your vaults and index it.

    The folder goes into the table [vaults] of your configuration. Nothing is written into the folder.
    """
    del force  # an option of earlier versions, which wrote a file into the vault
    vault = _vault(selection, folder, yes)
    own = VaultSelection(vault, selection.index_dir, selection.config)
    _register(selection, vault.absolute(), name)
    if daemon := read_daemon(shared_daemon_dir(config_of(selection, os.environ))):
        note("The running daemon indexes it now.")
        try:
            note(_indexed_by(daemon, vault))
        except DaemonError as error:
            note(f"{error} (indexer status)")
    else:
        _index(Connection(own))
    if is_pinned(selection) and selection.config is None:
        note("Not in your vaults: give --vault and --index-dir each time.")
        return
    for line in _NEXT_STEPS:
        note(line)


def _vault(selection: VaultSelection, folder: Path | None, yes: bool) -> Path:
    """The given folder, else the vault around the current folder, else the current folder if it contains
    Markdown. Asks for confirmation of an unlikely folder. Raises UsageError and VaultError."""
    named = with_home(folder) if folder else named_or_enclosing_vault(selection, os.environ)
    vault = named or current_folder()
    if vault is not None:
        root_identity(vault)
        confirm_folder(vault, yes)
    if vault is None or not (named or any(name.endswith(".md") for name in file_names(vault, IgnoreRules()))):
        raise UsageError("There are no Markdown notes here. Name a folder, as in: indexer init ~/Notes")
    return vault


def _register(selection: VaultSelection, vault: Path, name: str) -> None:
    """Adds the vault to the table [vaults], unless it is there or has an index folder for one command."""
    if is_pinned(selection) and selection.config is None:
        if name:
            raise UsageError("--name has no effect: a vault with its own --index-dir is not listed")
        return
    listed = vaults_in_config(selection, os.environ)
    known = next((one for one, path in listed.items() if resolved(path) == resolved(vault)), "")
    if known:
        if name not in ("", known):
            raise UsageError(f"--name: {vault} is already in your table [vaults], as {known}")
        return
    file = config_file_of(selection, os.environ)
    write_starter(file)
    chosen = name or free_name(folder_slug(vault), listed)
    add_vault(file, NamedVault(chosen, vault, selection.index_dir))
    note(f"Added {chosen} ({vault}) to {file}.")


def _indexed_by(info: DaemonInfo, vault: Path) -> str:
    """Waits until a running daemon, which notices the changed configuration, has indexed the vault including
    its vectors, as a command without a daemon would. Returns a message about the result. Raises DaemonError.
    """
    daemon = DaemonClient(info)
    until = time.monotonic() + _NOTICED_S
    while True:
        listed = daemon.ask(VAULTS)["vaults"]
        kept = [one for one in listed if resolved(Path(one["path"])) == resolved(vault)]
        if kept and kept[0]["state"] in _NOT_OPENED:
            return f"It is not indexed: {kept[0]['problem']}"
        if kept and kept[0]["state"] == "ready" and not kept[0]["pending"]:
            own = DaemonClient(replace(info, url=f"{info.url}/vault/{quote(kept[0]['name'])}"))
            return _wait_for_meaning(own) or f"Indexed {quantity(kept[0]['notes'], 'note')}."
        if not kept and time.monotonic() > until:
            return "The daemon has not seen the new vault yet (indexer status)."
        time.sleep(_LOOK_EVERY_S)


def _wait_for_meaning(daemon: DaemonClient) -> str:
    """Waits until every chunk of the vault has its vector, and meanwhile prints which searches work. Returns
    the problem if the vectors are not created; "" otherwise."""
    started = changed = time.monotonic()
    first = last = 0
    with ExitStack() as drawn:
        show: Show | None = None
        while (found := daemon.ask(STATUS))["vectors_owed"]:
            owed, now = found["vectors_owed"], time.monotonic()
            if not first or owed < last:
                first, last, changed = first or owed, owed, now
            if found["detail"] or now - changed > _NOTICED_S:
                missing = f"{quantity(owed, 'chunk')} of {found['chunks']:,}"
                return f"Searches use words and links; vectors are missing for {missing} (indexer status)."
            if show is None and owed < first:
                left = duration((now - started) * owed / (first - owed))
                note(f"You can search by word and link now, and by meaning in about {left}.")
                show = drawn.enter_context(showing())
            if show is not None:
                made = found["chunks"] - owed
                notes = found["notes"] * made // found["chunks"]
                took, total = now - started, found["notes"]
                show({"stage": "vectors", "notes": notes, "total": total, "chunks": made, "seconds": took})
            time.sleep(_LOOK_EVERY_S)
    return ""


def _index(connection: Connection) -> None:
    if connection.index_dir is None or has_index(connection.index_dir):
        found = connection.ask(STATUS)
        note(f"Already indexed: {quantity(found['notes'], 'note')}.")
        if found["detail"]:
            note(found["detail"])
        return
    with showing() as show:
        report = connection.rebuild(show, RebuildOptions())
    note(f"Indexed {quantity(report['notes'], 'note')} in {duration(report['seconds'])}.")
    if report["skipped"]:
        note(f"{skipped_in_words(report['skipped'])} (indexer check names them).")


app = one_command(init)
