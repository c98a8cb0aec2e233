"""`indexer open`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from vault_indexer.cli.commands.start import daemon_folder, start_daemon
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.cli.vault_folder import asks_all
from vault_indexer.daemon.discovery import OPEN_FILE, DaemonInfo, read_daemon, write_open_file
from vault_indexer.errors import IndexUnusableError

_WAIT_S = 30.0


def open_page(
    selection: VaultSelection,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it.")
    ] = False,
    direct: Annotated[
        bool,
        typer.Option(
            "--direct",
            help="For Snap and Flatpak browsers. Other users of this computer may then see the token.",
        ),
    ] = False,
) -> None:
    """Open the web page of your notes. The daemon is started if it is not running."""
    is_shared = asks_all(selection, os.environ)
    folder = daemon_folder(selection, is_shared=is_shared)
    info = read_daemon(folder) or start_daemon(selection, folder, _WAIT_S, all_vaults=is_shared)
    address = page_address(info)
    if only_print or not _opens_in_browser(address if direct else _file_for(folder, address)):
        typer.echo(address)
        return
    hint = "" if direct else " (if nothing appears, add --direct)"
    note(f"Opened {info.url} in your browser{hint}.")


def page_address(info: DaemonInfo) -> str:
    """The address of the page with the token, in the fragment: it is not sent over the network, and the page
    removes it."""
    return f"{info.url}/#token={info.token}"


def _file_for(index_dir: Path, address: str) -> str:
    """The address of a private file that redirects to the page."""
    try:
        return write_open_file(index_dir, address).absolute().as_uri()
    except OSError as error:
        raise IndexUnusableError(f"cannot write {index_dir}/{OPEN_FILE}: {error.strerror}") from error


def _opens_in_browser(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.get().open(address)
    except webbrowser.Error:
        note("No browser was found. Open this address:")
        return False


app = one_command(open_page)
