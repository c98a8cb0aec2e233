"""Opens the index in this process. Loaded only if no daemon answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from vault_indexer.api import open_named
from vault_indexer.bootstrap import named_vaults, open_index, open_to_rebuild, resolve_target
from vault_indexer.cli.known_vaults import has_index, recorded_vaults, remember_vault
from vault_indexer.cli.output.progress import showing
from vault_indexer.cli.output.terminal import print_warnings
from vault_indexer.cli.parameters import VaultSelection, confirm_folder
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
from vault_indexer.daemon.local_session import WITHOUT_DAEMON
from vault_indexer.errors import DaemonError, IndexUnusableError, UnavailableError, UsageError
from vault_indexer.model import DaemonState, Progress
from vault_indexer.serve.api.endpoints import Answer, Endpoint
from vault_indexer.serve.api.respond import AnswerContext, answer
from vault_indexer.service import VaultService
from vault_indexer.system import missing_limits, quoted_word, resolved
from vault_indexer.text.phrases import which_vault
from vault_indexer.vaults import Vaults

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson, RebuildReportJson

NO_VAULTS = 'There are no vaults. Run "indexer init ~/Notes" once.'


def target_of(selection: VaultSelection) -> Target:
    """The vault, index and configuration of a command. Raises UsageError, VaultError, ConfigError."""
    vault = named_or_enclosing_vault(selection, os.environ)
    if vault is None and not names_vaults(selection, os.environ):
        vault = only_vault(selection, os.environ)
        if vault is None and (choices := vaults_to_choose(selection, os.environ)):
            raise UsageError(which_vault(choices))
    target = resolve_target(vault, selection.index_dir, selection.config, environ=os.environ, options={})
    print_warnings(target.config.warnings)
    return target


def confirm_first_index(target: Target, yes: bool) -> None:
    """As `confirm_folder`, for a vault without an index."""
    if not has_index(target.index_dir):
        confirm_folder(target.vault, yes)


def check_limits() -> None:
    """Raises UnavailableError if the limits of this process are too low for an index. With too little address
    space, the libraries print their own errors or crash."""
    missing = missing_limits()
    if missing:
        raise UnavailableError(f"without a daemon, a command needs the same resources: {missing}")


@contextmanager
def open_service(target: Target, *, build: bool = True) -> Iterator[VaultService]:
    """Opens the index in this process, showing the progress of a necessary build on standard error. Raises
    UnavailableError if the limits of this process are too low."""
    check_limits()
    with showing() as show:
        service = open_index(target, _encoded(show), build=build)
    with closing(service):
        yield service


@dataclass(frozen=True)
class DirectDispatcher:
    """Answers requests in this process, for one vault or all of the table `[vaults]`.

    One command uses it in one thread. Each request opens the indices, builds a missing one if the endpoint
    allows it, and closes them again.
    """

    target: Target | None
    """None for all vaults, which are then in `named`."""

    named: Sequence[NamedVault] = ()
    config_file: Path | None = None
    remembers: bool = False
    """Whether the vault is recorded as known."""

    builds: bool = True
    """Whether a request may build a missing index."""

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """Raises DaemonError if the endpoint needs a daemon, and UsageError if it needs one vault."""
        arguments = endpoint.all_arguments(parameters)
        if endpoint.needs_daemon:
            raise DaemonError(WITHOUT_DAEMON)
        if endpoint.vaults == "one":
            self._only_target()
        with self._opened(build=endpoint.builds_index) as vaults:
            found = answer(endpoint, AnswerContext(vaults, DaemonState()), arguments)
            return cast("Answer", encode(found))

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Raises UsageError for several vaults."""
        target = self._only_target()
        check_limits()
        with closing(open_to_rebuild(target)) as service:
            report = service.rebuild(_encoded(show), options)
            self._record(target)
            return cast("RebuildReportJson", encode(report))

    def _only_target(self) -> Target:
        if self.target is None:
            raise UsageError(which_vault(vault.name for vault in self.named))
        return self.target

    @contextmanager
    def _opened(self, *, build: bool) -> Iterator[Vaults]:
        if self.target is None:
            check_limits()
            with ExitStack() as opened, showing() as show:
                yield open_named(self.named, self.config_file, _encoded(show), opened)
            return
        if not (self.builds or has_index(self.target.index_dir)):
            vault = self.target.vault
            raise IndexUnusableError(
                f"{vault} was never indexed: run `indexer init {quoted_word(str(vault))}`"
            )
        if build:
            confirm_first_index(self.target, yes=False)
        with open_service(self.target, build=build) as service:
            self._record(self.target)
            yield Vaults.of(service)

    def _record(self, target: Target) -> None:
        if self.remembers:
            remember_vault(target.vault, target.index_dir)


def dispatcher_for(target: Target, selection: VaultSelection) -> DirectDispatcher:
    return DirectDispatcher(target, remembers=not is_pinned(selection), builds=_may_build(target, selection))


def _may_build(target: Target, selection: VaultSelection) -> bool:
    """Whether a request may build a missing index: that of the vault around the current folder, of a
    configured vault, of one that was indexed elsewhere, and in a given index folder."""
    settings = target.config.settings
    listed = (settings.vault, *(named.path for named in settings.vaults.values()))
    return (
        settings.index.dir is not None
        or any(folder is not None and resolved(folder) == target.vault for folder in listed)
        or any(known.folder == target.vault for known in recorded_vaults())
        or not (selection.vault or os.environ.get("INDEXER_VAULT"))
    )


def dispatcher_for_all(selection: VaultSelection) -> DirectDispatcher:
    """Raises UsageError if the table has no vaults, and ConfigError."""
    config_file = config_of(selection, os.environ)
    named = named_vaults(config_file, os.environ)
    if not named:
        raise UsageError(NO_VAULTS)
    return DirectDispatcher(None, named, config_file)


def _encoded(show: Callable[[ProgressJson], None]) -> Callable[[Progress], None]:
    return lambda progress: show(cast("ProgressJson", encode(progress)))
