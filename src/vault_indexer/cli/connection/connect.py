"""How a command reaches the index: through the daemon if one runs, else in this process.

The first way must be fast: it reads no configuration and loads neither engines nor models. What needs those
is in `in_process`, which is loaded by name where no daemon answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from vault_indexer.cli.app import in_process_module
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    asks_all,
    config_of,
    is_pinned,
    named_or_enclosing_vault,
    note_in_vault,
    only_vault,
)
from vault_indexer.contract.parameters import Value
from vault_indexer.daemon.discovery import read_daemon, read_index_pointer, shared_daemon_dir
from vault_indexer.serve.api.endpoints import Answer, Endpoint
from vault_indexer.serve.client import DaemonClient, NotListeningError

T = TypeVar("T")


def ask(selection: VaultSelection, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
    """The answer of an endpoint, from the daemon, else from the index in this process."""
    return with_connection(selection, lambda connection: connection.index.ask(endpoint, **parameters))


def with_connection(selection: VaultSelection, question: Callable[[IndexConnection], T]) -> T:
    """What `question` returns for the daemon, else for the index in this process; it may be called twice.

    A daemon that ends between its proof and the question is reported on standard error, and the index itself
    answers.
    """
    try:
        return question(_known_daemon(selection, os.environ) or in_process_module().reach(selection))
    except NotListeningError as error:
        note(f"{error}: answering without it")
        return question(in_process_module().in_process(selection))


def ask_about(selection: VaultSelection, named: str, question: Callable[[IndexConnection, str], T]) -> T:
    """As `with_connection`, about a note as a person names it; `question` gets its path in the vault."""
    return with_connection(
        selection, lambda connection: question(connection, note_in_vault(named, connection.vault))
    )


def _known_daemon(selection: VaultSelection, environ: Mapping[str, str]) -> IndexConnection | None:
    """The running daemon, if it can be found without loading the configuration.

    Where an index folder is named, by its `daemon.json`; where only the vault is, by the pointer that its
    daemon left. A command that names a configuration has to read it first.
    """
    index_dir = known_index_dir(selection, environ)
    info = read_daemon(index_dir) if index_dir else None
    return IndexConnection.through(info) if info else None


def ask_all(selection: VaultSelection, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
    """The answer of an endpoint for all vaults of the table `[vaults]`: from their daemon, else from the
    indices in this process."""
    info = read_daemon(shared_daemon_dir(config_of(selection, os.environ)))
    if info:
        try:
            return DaemonClient(info).ask(endpoint, **parameters)
        except NotListeningError as error:
            note(f"{error}: answering without it")
    return in_process_module().all_in_process(selection).ask(endpoint, **parameters)


def known_daemon_folder(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The folder of the `daemon.json` that a command means, as far as it is known without configuration."""
    if asks_all(selection, environ):
        return shared_daemon_dir(config_of(selection, environ))
    return known_index_dir(selection, environ)


def known_index_dir(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The index folder as far as option, variable or index pointer tell."""
    named = selection.index_dir or _path(environ.get("INDEXER_INDEX_DIR"))
    if named is not None or is_pinned(selection, environ):
        return named
    vault = named_or_enclosing_vault(selection, environ) or only_vault(selection, environ)
    return read_index_pointer(vault) if vault else None


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
