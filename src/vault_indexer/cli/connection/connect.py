"""How a command reaches the index: through the daemon if one runs, else in this process.

The first way must be fast: it reads no configuration and loads neither engines nor models. What needs those
is in `in_process`, which is loaded by name where no daemon answers.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from vault_indexer.cli.output.terminal import note
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    asks_all,
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
from vault_indexer.system import with_home

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
    """What answers requests: `DaemonClient` over HTTP, `DirectDispatcher` in this process."""

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises VaultIndexerError."""
        ...

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Rebuild the index; `show` is called with the progress. Raises VaultIndexerError."""
        ...


class _InProcessModule(Protocol):
    def target_of(self, selection: VaultSelection) -> Target: ...

    def dispatcher_for(self, target: Target, selection: VaultSelection) -> Dispatcher: ...

    def dispatcher_for_all(self, selection: VaultSelection) -> Dispatcher: ...


def in_process_module() -> _InProcessModule:
    """The module that answers in this process, imported late: it imports engines and models."""
    return cast("_InProcessModule", importlib.import_module("vault_indexer.cli.connection.in_process"))


class Connection:
    """The vault that a command is about, or all of the table `[vaults]`, and what answers its requests.

    A daemon that ends before a request is reported on standard error; this process answers then.
    """

    def __init__(self, selection: VaultSelection, *, all_vaults: bool = False, note: str = "") -> None:
        """`note`: the note that the command is about, as a person names it; it may tell which vault is meant.
        Raises VaultIndexerError where no vault can be meant."""
        selection = vault_of_note(note, selection, os.environ) if note else selection
        self._selection = selection
        self._all_vaults = all_vaults
        self.vault = Path()
        """The folder of the vault; of several, see `folder_of`."""

        self.index_dir: Path | None = None
        """The index that this process opens; None where a daemon answers, and for all vaults."""

        self._folders = vaults_in_config(selection, os.environ) if all_vaults else {}
        if all_vaults:
            folder: Path | None = shared_daemon_dir(config_of(selection, os.environ))
        else:
            folder = known_index_dir(selection, os.environ)
        self._dispatcher = self._daemon_in(folder) or self._without_daemon()

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises VaultIndexerError."""
        return self._request(lambda dispatcher: dispatcher.ask(endpoint, **parameters))

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Rebuild the index, showing the progress. Raises VaultIndexerError."""
        return self._request(lambda dispatcher: dispatcher.rebuild(show, options))

    def folder_of(self, hit: HitJson | CitationJson) -> Path:
        """The folder in which the path of a hit begins."""
        return self._folders.get(hit.get("vault", ""), self.vault)

    def path_of(self, named: str) -> str:
        """The path in the vault of a note as a person names it. Raises UsageError."""
        return note_in_vault(named, self.vault)

    def _request(self, send: Callable[[Dispatcher], T]) -> T:
        try:
            return send(self._dispatcher)
        except NotListeningError as error:
            note(f"{error}: answering without it")
            self._dispatcher = self._without_daemon(is_looked_for=False)
            return send(self._dispatcher)

    def _daemon_in(self, folder: Path | None) -> Dispatcher | None:
        """The daemon that is announced in a folder and runs."""
        info = read_daemon(folder) if folder else None
        if info is None:
            return None
        self.vault = Path(info.vault)
        return DaemonClient(info)

    def _without_daemon(self, *, is_looked_for: bool = True) -> Dispatcher:
        """This process; but if `is_looked_for`, the daemon of the index that the configuration names."""
        module = in_process_module()
        if self._all_vaults:
            return module.dispatcher_for_all(self._selection)
        target = module.target_of(self._selection)
        if is_looked_for and (daemon := self._daemon_in(target.index_dir)):
            return daemon
        self.vault, self.index_dir = target.vault, target.index_dir
        return module.dispatcher_for(target, self._selection)


def ask(selection: VaultSelection, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
    """The answer of an endpoint for the vault that a command is about."""
    return Connection(selection).ask(endpoint, **parameters)


def known_daemon_folder(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The folder of the `daemon.json` that a command means, as far as it is known without configuration."""
    if asks_all(selection, environ):
        return shared_daemon_dir(config_of(selection, environ))
    return known_index_dir(selection, environ)


def known_index_dir(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The index folder as far as option, variable or index pointer tell: a command that names a configuration
    has to read it first."""
    named = selection.index_dir or environ.get("INDEXER_INDEX_DIR")
    if named or is_pinned(selection, environ):
        return with_home(named) if named else None
    vault = named_or_enclosing_vault(selection, environ) or only_vault(selection, environ)
    return read_index_pointer(vault) if vault else None
