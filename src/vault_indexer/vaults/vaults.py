"""The vaults of one server, by name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from vault_indexer.answer import Answerer, AskEvent, whole_answer
from vault_indexer.config import NamedVault, Settings, vault_name_of
from vault_indexer.daemon.config_watch import ConfigFollower, ConfigWatch
from vault_indexer.daemon.state import ActiveFaults, Cause
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.model import AskAnswer, AskRequest, SearchAnswer, SearchRequest, StatusReport, VaultSummary
from vault_indexer.service import AskedVaults, VaultService
from vault_indexer.vaults.managed import ManagedVault, OpenVault, VaultRuntime


@dataclass(frozen=True, slots=True)
class _Kept:
    """The contents of `Vaults` at one time: the vaults by name, the answerer for questions to several vaults
    with its settings, and the problem of the configuration of the vaults ("": none)."""

    holders: Mapping[str, VaultRuntime]
    answerer: Answerer
    problem: str = ""

    def asked(self, is_cancelled: Callable[[], bool]) -> AskedVaults:
        services = {name: holder.service for name, holder in self.holders.items()}
        search = self.answerer.settings.search
        return AskedVaults(services, search, lambda: self.answerer, is_cancelled, self.problem)


class Vaults:
    """All vaults of a server, in the order of their names.

    It selects the vault that a request names. The code that created the holders opens and closes them.
    Thread-safe. `VaultSupervisor` replaces all vaults at once, so that a request uses either the old or the
    new set.
    """

    def __init__(
        self,
        holders: Sequence[VaultRuntime],
        settings: Settings | None = None,
        *,
        llm_cache: Path | None = None,
        may_change: bool = False,
    ) -> None:
        """`settings` apply to questions to several vaults; None means the defaults. `llm_cache` is the folder
        that stores the answers of the language model to such questions (None: they are not stored).
        `may_change`: the set of vaults can change later."""
        self._llm_cache = llm_cache
        self._kept = _Kept(_by_name(holders), Answerer(settings or Settings(), llm_cache))
        self.may_change = may_change

    @classmethod
    def of(cls, service: VaultService, name: str = "") -> Self:
        """Create the set of a single open vault. Its default name is that of its folder."""
        folder = service.vault
        return cls([OpenVault(name or vault_name_of(folder), folder, service)])

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._kept.holders)

    @property
    def are_several(self) -> bool:
        return len(self._kept.holders) != 1

    @property
    def problem(self) -> str:
        """The problem of the configuration that defines the vaults; "" if there is none."""
        return self._kept.problem

    def replace(self, holders: Sequence[VaultRuntime], settings: Settings) -> None:
        """Replace the vaults, and clear the problem of the configuration."""
        answerer = self._kept.answerer
        if answerer.settings != settings:
            answerer = Answerer(settings, self._llm_cache)
        self._kept = _Kept(_by_name(holders), answerer)

    def report_problem(self, problem: str) -> None:
        """Report with every answer for all vaults that their configuration is invalid."""
        self._kept = replace(self._kept, problem=problem)

    def named(self, name: str) -> VaultRuntime:
        """Return the vault of this name. Raises UsageError if there is none."""
        holders = self._kept.holders
        if name not in holders:
            raise UsageError(f"no vault {name[:60]!r} is kept here: {_choices(holders)}")
        return holders[name]

    def service(self, name: str = "") -> VaultService:
        """The service of the vault of this name; without a name, of the only one.

        Raises UsageError if there is none, or several and no name; else as `VaultRuntime.service`.
        """
        return self.holder(name).service()

    def holder(self, name: str = "") -> VaultRuntime:
        """The vault of this name; without a name, the only one. Raises UsageError as `service`."""
        holders = self._kept.holders
        if name:
            return self.named(name)
        if len(holders) != 1:
            raise UsageError(f"vault = '' is missing: {_choices(holders)}")
        return next(iter(holders.values()))

    def holders(self, name: str = "") -> tuple[VaultRuntime, ...]:
        """The vault of this name; without a name, all. Raises UsageError if there is none."""
        return (self.named(name),) if name else tuple(self._kept.holders.values())

    def search(
        self, request: SearchRequest, name: str = "", *, is_cancelled: Callable[[], bool] = lambda: False
    ) -> SearchAnswer:
        """Ranked hits of the vault of this name, or of all together. Raises as `VaultService.search`."""
        if name or not self.are_several:
            return self.service(name).search(request, is_cancelled=is_cancelled)
        return self._kept.asked(is_cancelled).search(request)

    def ask(
        self, request: AskRequest, name: str = "", *, is_cancelled: Callable[[], bool] = lambda: False
    ) -> AskAnswer:
        """The answer from the vault of this name, or from all together. Raises as `VaultService.ask`."""
        return whole_answer(self.ask_events(request, name, is_cancelled=is_cancelled))

    def ask_events(
        self, request: AskRequest, name: str = "", *, is_cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[AskEvent]:
        """The same as it arises. Raises as `VaultService.ask_events`."""
        if name or not self.are_several:
            yield from self.service(name).ask_events(request, is_cancelled=is_cancelled)
            return
        yield from self._kept.asked(is_cancelled).ask_events(request)

    def status(self, name: str = "") -> StatusReport:
        """The state of the vault of this name, with the problem of the configuration. Raises as `named`."""
        report, problem = self.service(name).status(), self.problem
        if not problem or problem in report.detail:
            return report
        return replace(report, detail="; ".join(filter(None, (report.detail, problem))))

    def summaries(self) -> tuple[VaultSummary, ...]:
        return tuple(one.summary() for one in self.holders())


def _by_name(holders: Sequence[VaultRuntime]) -> Mapping[str, VaultRuntime]:
    return {one.name: one for one in sorted(holders, key=lambda one: one.name)}


def _choices(holders: Mapping[str, VaultRuntime]) -> str:
    return f"choose one of {', '.join(holders)}" if holders else "there are no vaults"


# Keeps the vaults of a server in step with the table of the configuration while the server runs.


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
