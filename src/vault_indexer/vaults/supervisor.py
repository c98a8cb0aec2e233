"""Keeps the vaults of a server in step with the table of the configuration while the server runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from vault_indexer.config import NamedVault, Settings
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.daemon.faults import ActiveFaults, Cause
from vault_indexer.errors import VaultIndexerError
from vault_indexer.vaults.managed import ManagedVault
from vault_indexer.vaults.vaults import Vaults

_LOG = logging.getLogger("vault_indexer.vaults")


class VaultTable(NamedTuple):
    """What the configuration says: the vaults, and the settings for questions to all of them."""

    named: tuple[NamedVault, ...]
    settings: Settings


class VaultSupervisor:
    """The vaults of a server, as the configuration names them: it opens those that were added and closes
    those that were removed, each in the vault's own thread.

    The command `serve` owns it. As a context manager it keeps the vaults for the time of the block; at its
    end they close in parallel. A thread of its own looks at the files of the configuration. One that
    has just changed is read at the next look, since it may still be being written. A configuration that
    cannot be read, or whose vaults would share a folder, changes nothing: `Vaults.problem` says so until it
    is corrected. A vault whose folder or index folder changes is another vault.
    """

    def __init__(
        self,
        table: VaultTable,
        read: Callable[[], VaultTable],
        keep: Callable[[NamedVault], ManagedVault],
        watch: ConfigWatch,
        llm_cache: Path,
    ) -> None:
        """`table` was read after `watch` was made. `read` reads it again and raises VaultIndexerError; `keep`
        makes a vault that is not begun to open. `llm_cache` is as of `Vaults`."""
        self._read = read
        self._keep = keep
        self._kept = {one: keep(one) for one in table.named}
        self._leaving: list[ManagedVault] = []
        self._faults = ActiveFaults()
        self._follower = ConfigFollower(watch, self._read_again, "indexer-vaults")
        self.vaults = Vaults(self._all(), table.settings, llm_cache=llm_cache, may_change=True)

    def __enter__(self) -> Self:
        """Begin to open the vaults; returns at once."""
        for one in self._all():
            one.start()
        self._follower.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all. Returns once they are closed."""
        self._follower.stop()
        for one in self._all():
            one.stop()
        for one in [*self._all(), *self._leaving]:
            one.close()

    def _all(self) -> Sequence[ManagedVault]:
        return tuple(self._kept.values())

    def _read_again(self) -> None:
        try:
            table = self._read()
        except (VaultIndexerError, OSError) as error:
            self._faults.begin_with(Cause.CONFIG, "the changed configuration is not used", error)
            problem = self._faults.get(Cause.CONFIG)
            _LOG.error("%s", problem)
            self.vaults.report_problem(problem)
            return
        self._faults.end(Cause.CONFIG)
        self._change_to(table)

    def _change_to(self, table: VaultTable) -> None:
        before = self._kept
        self._kept = {one: before.get(one) or self._keep(one) for one in table.named}
        # First no request comes to a vault that is closing, then it closes.
        self.vaults.replace(self._all(), table.settings)
        self._leaving = [one for one in self._leaving if not one.is_closed]
        for named, kept in before.items():
            if named not in self._kept:
                _LOG.info("vault %s was removed: it is closed", named.name)
                kept.stop()
                self._leaving.append(kept)
        for named, kept in self._kept.items():
            if named not in before:
                _LOG.info("vault %s was added: it is opened", named.name)
                kept.start()
