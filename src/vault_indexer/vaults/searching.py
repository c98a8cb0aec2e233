"""A question to several vaults: those that answer, and what is said of those that cannot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vault_indexer.answer import Answerer, AskEvent, with_notices
from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import IndexUnusableError, QueryCancelledError, VaultIndexerError
from vault_indexer.model import AskRequest, SearchAnswer, SearchRequest
from vault_indexer.search import ReadyVaults
from vault_indexer.service import VaultService, check_request
from vault_indexer.vaults.managed import VaultRuntime

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
