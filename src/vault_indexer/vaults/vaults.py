"""The vaults of one server, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from vault_indexer.answer import Answerer, AskEvent, whole_answer, with_notices
from vault_indexer.config import Settings, vault_name_of
from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import IndexUnusableError, QueryCancelledError, UsageError, VaultIndexerError
from vault_indexer.model import AskAnswer, AskRequest, SearchAnswer, SearchRequest, StatusReport, VaultSummary
from vault_indexer.search import ReadyVaults
from vault_indexer.service import VaultService, check_request
from vault_indexer.vaults.managed import OpenVault, VaultRuntime

# A question to several vaults: those that answer, and what is said of those that cannot.


_FRESH_S = 10.0
"""How long all vaults together are waited for where a question is to be fresh."""


@dataclass(frozen=True, slots=True)
class ServedVaults:
    """The vaults of a server that can be asked when a question comes, by name.

    `unready` says why others cannot. `problem` is what is wrong with the configuration of all ("": nothing).
    """

    ready: ReadyVaults
    services: Mapping[str, VaultService]
    unready: tuple[str, ...]
    problem: str = ""

    @classmethod
    def open_of(
        cls,
        holders: Sequence[VaultRuntime],
        settings: SearchSettings,
        is_cancelled: Callable[[], bool],
        problem: str = "",
    ) -> ServedVaults:
        """Those of the holders that are open. Raises IndexUnusableError where none is."""
        services: dict[str, VaultService] = {}
        vaults = []
        unready: list[str] = []
        for one in holders:
            try:
                service = one.service()
                vaults.append(service.ready_vault(one.name))
                services[one.name] = service
            except VaultIndexerError as error:
                unready.append(f"{one.name} is not searched: {error}")
        if not vaults:
            raise IndexUnusableError("; ".join(unready) or "there are no vaults")
        ready = ReadyVaults(vaults, settings, is_cancelled, len(unready))
        return cls(ready, services, tuple(unready), problem)

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Ranked hits of all the vaults, each with the name of its vault. A vault that cannot be asked is
        left out, and a notice says why. Raises as `VaultService.search`."""
        check_request(request)
        late = self._wait_fresh() if request.fresh else []
        answer = self.ready.answer(request)
        return replace(answer, notices=(*answer.notices, *self._notices(late)))

    def ask_events(self, request: AskRequest, answerer: Answerer) -> Iterator[AskEvent]:
        """The answer to a question from the passages of all the vaults, as it arises; each citation names its
        vault. Raises as `VaultService.ask_events`."""
        check_request(SearchRequest(request.question, request.limit))
        late = self._wait_fresh() if request.fresh else []
        events = answerer.answer_from(self.ready, request, self.ready.is_cancelled)
        yield from with_notices(events, (), lambda: self._notices(late))

    def _wait_fresh(self) -> list[str]:
        """Wait until the changes of each are in; why they are not, where time runs out."""
        until = time.monotonic() + _FRESH_S
        late = []
        for name, service in self.services.items():
            if self.ready.is_cancelled():
                raise QueryCancelledError("the search was cancelled")
            left_s = max(0.1, until - time.monotonic())
            late += [f"{name}: {text}" for text in service.wait_fresh(left_s)]
        return late

    def _notices(self, late: Sequence[str]) -> tuple[str, ...]:
        """Which vaults are not searched and why, which are late, what is wrong with the configuration of all,
        and what each vault has to say."""
        own = [
            f"{name}: {notice}"
            for name, service in self.services.items()
            for notice in service.notices()
            if notice != self.problem
        ]
        return (*self.unready, *late, *([self.problem] if self.problem else ()), *own)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What `Vaults` holds at one time: the vaults by name, what answers questions to several, with the
    settings for that, and what is wrong with the configuration that names them ("": nothing)."""

    holders: Mapping[str, VaultRuntime]
    answerer: Answerer
    problem: str = ""

    def ready(self, is_cancelled: Callable[[], bool]) -> ServedVaults:
        """Those that can be asked now. Raises IndexUnusableError where none can."""
        search = self.answerer.settings.search
        return ServedVaults.open_of(tuple(self.holders.values()), search, is_cancelled, self.problem)


class Vaults:
    """All vaults that a server answers for, in the order of their names.

    It holds what each is called and chooses the one that a request means. Opening and closing is the
    business of whoever made the holders. Any thread may ask. `VaultSupervisor` replaces the vaults as a
    whole, so that a question sees those of before or those of after.
    """

    def __init__(
        self,
        holders: Sequence[VaultRuntime],
        settings: Settings | None = None,
        *,
        llm_cache: Path | None = None,
        may_change: bool = False,
    ) -> None:
        """`settings` hold for questions to several; None means the defaults. `llm_cache` is the folder where
        answers of the language model to such questions are kept (None: nowhere). `may_change`: there can be
        other vaults, or more of them, later."""
        self._llm_cache = llm_cache
        self._kept = _Kept(_by_name(holders), Answerer(settings or Settings(), llm_cache))
        self.may_change = may_change

    @classmethod
    def of(cls, service: VaultService, name: str = "") -> Self:
        """One vault, which is open; without a name it has the name of its folder."""
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
        """What is wrong with the configuration that names the vaults; "" for nothing."""
        return self._kept.problem

    def replace(self, holders: Sequence[VaultRuntime], settings: Settings) -> None:
        """Answer for these vaults from now on. The problem of the configuration has ended."""
        answerer = self._kept.answerer
        if answerer.settings != settings:
            answerer = Answerer(settings, self._llm_cache)
        self._kept = _Kept(_by_name(holders), answerer)

    def report_problem(self, problem: str) -> None:
        """Say with every answer for all vaults that their configuration cannot be used."""
        self._kept = replace(self._kept, problem=problem)

    def named(self, name: str) -> VaultRuntime:
        """The vault of this name. Raises UsageError if there is none."""
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
        return self._kept.ready(is_cancelled).search(request)

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
        kept = self._kept
        yield from kept.ready(is_cancelled).ask_events(request, kept.answerer)

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
