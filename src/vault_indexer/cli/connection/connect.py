"""Connects a command to an index: through the daemon if one runs, otherwise in this process.

The daemon's path must be fast: it reads no configuration and loads neither engines nor models. The rest is in
`in_process`, which is imported by name if no daemon answers.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    config_of,
    is_pinned,
    named_or_enclosing_vault,
    note_in_vault,
    only_vault,
    vault_of_note,
    vaults_in_config,
)
from vault_indexer.contract.parameters import Value
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import read_daemon, read_index_pointer, shared_daemon_dir
from vault_indexer.serve.api.endpoints import Answer, Endpoint
from vault_indexer.serve.client import DaemonClient, NotListeningError
from vault_indexer.system import gc_paused, with_home

if TYPE_CHECKING:
    from vault_indexer.daemon.assembly import Target
    from vault_indexer.serve.api.generated.shapes import (
        CitationJson,
        HitJson,
        ProgressJson,
        RebuildReportJson,
    )

T = TypeVar("T")


class Dispatcher(Protocol):
    """Answers requests: `DaemonClient` over HTTP, `DirectDispatcher` in this process."""

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises VaultIndexerError."""
        ...

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Rebuilds the index; `show` is called with the progress. Raises VaultIndexerError."""
        ...


class _InProcessModule(Protocol):
    def target_of(self, selection: VaultSelection) -> Target: ...

    def confirm_first_index(self, target: Target, yes: bool) -> None: ...

    def dispatcher_for(self, target: Target, selection: VaultSelection) -> Dispatcher: ...

    def dispatcher_for_all(self, selection: VaultSelection) -> Dispatcher: ...


def in_process_module() -> _InProcessModule:
    """The module for answers in this process, imported late because it imports engines and models."""
    with gc_paused():  # hundreds of modules, none of which is garbage
        return cast("_InProcessModule", importlib.import_module("vault_indexer.cli.connection.in_process"))


class Connection:
    """The vault of a command, or all vaults of the table `[vaults]`, and the dispatcher of its requests.

    If a daemon exits before a request, a line on standard error reports it, and this process answers.
    """

    def __init__(self, selection: VaultSelection, *, all_vaults: bool = False, note: str = "") -> None:
        """`note` is the user's name for a note, which may select the vault. Raises VaultIndexerError if no
        vault is selected."""
        selection = vault_of_note(note, selection, os.environ) if note else selection
        self._selection = selection
        self._all_vaults = all_vaults
        self.vault = Path()
        """The folder of the vault; for several vaults, see `folder_of`."""

        self.index_dir: Path | None = None
        """The index that this process opens; None with a daemon or for all vaults."""

        self._folders = vaults_in_config(selection, os.environ) if all_vaults else {}
        folder = known_daemon_folder(selection, is_shared=all_vaults)
        self._dispatcher = self._daemon_in(folder) or self._without_daemon()

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        return self._request(lambda dispatcher: dispatcher.ask(endpoint, **parameters))

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        return self._request(lambda dispatcher: dispatcher.rebuild(show, options))

    def folder_of(self, hit: HitJson | CitationJson) -> Path:
        """The folder of the hit's vault, where its path begins."""
        return self._folders.get(hit.get("vault", ""), self.vault)

    def path_of(self, named: str) -> str:
        """The path in the vault for the user's name of a note. Raises UsageError."""
        return note_in_vault(named, self.vault)

    def _request(self, send: Callable[[Dispatcher], T]) -> T:
        try:
            return send(self._dispatcher)
        except NotListeningError as error:
            note(f"{error}: answering without it")
            self._dispatcher = self._without_daemon(is_looked_for=False)
            return send(self._dispatcher)

    def _daemon_in(self, folder: Path | None) -> Dispatcher | None:
        """The running daemon that is announced in a folder."""
        info = read_daemon(folder) if folder else None
        if info is None:
            return None
        self.vault = Path(info.vault)
        return DaemonClient(info)

    def _without_daemon(self, *, is_looked_for: bool = True) -> Dispatcher:
        """This process, or with `is_looked_for` a daemon of the configured index."""
        module = in_process_module()
        if self._all_vaults:
            return module.dispatcher_for_all(self._selection)
        target = module.target_of(self._selection)
        if is_looked_for and (daemon := self._daemon_in(target.index_dir)):
            return daemon
        self.vault, self.index_dir = target.vault, target.index_dir
        return module.dispatcher_for(target, self._selection)


def ask(selection: VaultSelection, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
    return Connection(selection).ask(endpoint, **parameters)


def known_daemon_folder(selection: VaultSelection, *, is_shared: bool) -> Path | None:
    """The folder of the `daemon.json`: that of the shared daemon, or the index folder of one vault according
    to option, variable or index pointer. None if a given configuration must be read first."""
    if is_shared:
        return shared_daemon_dir(config_of(selection, os.environ))
    named = selection.index_dir or os.environ.get("INDEXER_INDEX_DIR")
    if named or is_pinned(selection):
        return with_home(named) if named else None
    vault = named_or_enclosing_vault(selection, os.environ) or only_vault(selection, os.environ)
    return read_index_pointer(vault) if vault else None
