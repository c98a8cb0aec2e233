"""The index in this process: what `reach` falls back to. Loaded only where no daemon answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from vault_indexer.api import open_named
from vault_indexer.bootstrap import named_vaults, open_index, open_to_rebuild, resolve_target
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.known_vaults import remember_vault
from vault_indexer.cli.output.progress import showing
from vault_indexer.cli.output.terminal import print_warnings
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.cli.vault_folder import (
    config_of,
    is_pinned,
    named_or_enclosing_vault,
    names_vaults,
    only_vault,
    vaults_to_choose,
)
from vault_indexer.config import NamedVault
from vault_indexer.contract.codec import encode
from vault_indexer.contract.parameters import Value
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.assembly import Target
from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.daemon.local_session import WITHOUT_DAEMON
from vault_indexer.errors import DaemonError, UnavailableError, UsageError
from vault_indexer.model import DaemonState, Progress
from vault_indexer.serve.api.endpoints import Answer, Endpoint
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.service import VaultService
from vault_indexer.system import missing_limits
from vault_indexer.text.phrases import which_vault
from vault_indexer.vaults import Vaults

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson, RebuildReportJson

NO_VAULTS = 'There are no vaults. Run "indexer init ~/Notes" once.'


def target_of(selection: VaultSelection) -> Target:
    """Which vault, index and configuration a command means. Raises UsageError, VaultError, ConfigError."""
    vault = named_or_enclosing_vault(selection, os.environ)
    if vault is None and not names_vaults(selection, os.environ):
        vault = only_vault(selection, os.environ)
        if vault is None and (choices := vaults_to_choose(selection, os.environ)):
            raise UsageError(which_vault(choices))
    target = resolve_target(vault, selection.index_dir, selection.config, environ=os.environ, options={})
    print_warnings(target.config.warnings)
    return target


def check_limits() -> None:
    """Raises UnavailableError where the limits of this process do not allow that it opens an index. With less
    address space the libraries of an index write errors of their own, or end the process by a signal."""
    missing = missing_limits()
    if missing:
        raise UnavailableError(f"to open the index itself, a command needs as much as a daemon: {missing}")


@contextmanager
def open_service(target: Target, *, build: bool = True) -> Iterator[VaultService]:
    """The index in this process; a build that it needs shows its progress on standard error. Raises
    UnavailableError where the limits of this process do not allow that."""
    check_limits()
    with showing() as show:
        service = open_index(target, _encoded(show), build=build)
    with closing(service):
        yield service


class InProcess:
    """The endpoints of an index, answered in this process: where no daemon is running.

    One command makes it and uses it in one thread. It holds nothing open: each question opens the index and
    closes it again. An index that is missing is built first, unless the endpoint is about the index itself.
    """

    def __init__(self, target: Target, *, is_pinned: bool) -> None:
        """`is_pinned`: as `vault_folder.is_pinned`; the vault is not remembered then."""
        self._target = target
        self._is_pinned = is_pinned

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises DaemonError for one that needs a daemon."""
        arguments = endpoint.all_arguments(parameters)
        if endpoint.needs_daemon:
            raise DaemonError(WITHOUT_DAEMON)
        with open_service(self._target, build=endpoint.builds_index) as service:
            self._remember()
            return _answer(endpoint, Vaults.of(service), arguments)

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Rebuild in this process, whether or not there is an index."""
        check_limits()
        with closing(open_to_rebuild(self._target)) as service:
            report = service.rebuild(_encoded(show), options)
            self._remember()
            return cast("RebuildReportJson", encode(report))

    def _remember(self) -> None:
        if not self._is_pinned:
            remember_vault(self._target.vault, self._target.index_dir)


class AllInProcess:
    """The endpoints of all vaults of the table `[vaults]`, answered in this process.

    Each question opens those that can be opened, builds what is missing, and closes them again.
    """

    def __init__(self, named: Sequence[NamedVault], config_file: Path | None) -> None:
        self._named = named
        self._config_file = config_file

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises UsageError for one that needs one vault."""
        arguments = endpoint.all_arguments(parameters)
        if endpoint.vaults == "one":
            names = [one.name for one in self._named]
            raise UsageError(which_vault(names))
        check_limits()
        with ExitStack() as opened, showing() as show:
            vaults = open_named(self._named, self._config_file, _encoded(show), opened)
            return _answer(endpoint, vaults, arguments)

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Refused: raises UsageError."""
        del show, options
        raise UsageError(which_vault(one.name for one in self._named))


def all_in_process(selection: VaultSelection) -> AllInProcess:
    """The indices of all vaults of the table. Raises UsageError where there are none, and ConfigError."""
    config_file = config_of(selection, os.environ)
    named = named_vaults(config_file, os.environ)
    if not named:
        raise UsageError(NO_VAULTS)
    return AllInProcess(named, config_file)


def reach(selection: VaultSelection) -> IndexConnection:
    """The daemon of the index that the configuration names, if one runs there; else the index itself."""
    target = target_of(selection)
    info = read_daemon(target.index_dir)
    return IndexConnection.through(info) if info else _in_process(selection, target)


def in_process(selection: VaultSelection) -> IndexConnection:
    """The index itself, whatever `daemon.json` says."""
    return _in_process(selection, target_of(selection))


def _in_process(selection: VaultSelection, target: Target) -> IndexConnection:
    return IndexConnection(InProcess(target, is_pinned=is_pinned(selection)), target.vault, target.index_dir)


def _answer(endpoint: Endpoint[Answer], vaults: Vaults, arguments: Mapping[str, Value]) -> Answer:
    return cast("Answer", encode(answer(endpoint, AnswerContext(vaults, DaemonState()), arguments)))


def _encoded(show: Callable[[ProgressJson], None]) -> Callable[[Progress], None]:
    return lambda progress: show(cast("ProgressJson", encode(progress)))
