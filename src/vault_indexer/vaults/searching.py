"""A question to several vaults: those that answer, and what is said of those that cannot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from vault_indexer.answer import Answerer, AskEvent, FoundPassages
from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import IndexUnusableError, QueryCancelledError, VaultIndexerError
from vault_indexer.model import AskAnswer, AskRequest, IndexState, SearchAnswer, SearchRequest
from vault_indexer.search import (
    IndexReader,
    QueryDeadline,
    SearchedVault,
    question_words_together,
    search_together,
)
from vault_indexer.service import VaultService, check_request
from vault_indexer.vaults.kept import VaultHolder

_FRESH_S = 10.0
"""How long all vaults together are waited for where a question is to be fresh."""


@dataclass(frozen=True, slots=True)
class ReadyVaults:
    """Implements answer.PassageSource for the vaults that can be asked when a question comes.

    `notices` say why others cannot. `problem` is what is wrong with the configuration of all, "" for nothing.
    One question makes it and uses it in one thread.
    """

    vaults: Sequence[_Ready]
    settings: SearchSettings
    is_cancelled: Callable[[], bool]
    notices: tuple[str, ...]
    problem: str = ""

    @classmethod
    def of(
        cls,
        holders: Sequence[VaultHolder],
        settings: SearchSettings,
        is_cancelled: Callable[[], bool],
        problem: str = "",
    ) -> ReadyVaults:
        """Those of the holders that are open. Raises IndexUnusableError where none is."""
        ready: list[_Ready] = []
        said: list[str] = []
        for one in holders:
            try:
                service = one.service()
                ready.append(_Ready(one.name, service, service.reader()))
            except VaultIndexerError as error:
                said.append(f"{one.name} is not searched: {error}")
        if not ready:
            raise IndexUnusableError("; ".join(said) or "there are no vaults")
        return cls(ready, settings, is_cancelled, tuple(said), problem)

    @contextmanager
    def leased(self) -> Iterator[list[SearchedVault]]:
        """The snapshot of each, for the time of the block."""
        with ExitStack() as leases:
            yield [
                SearchedVault(
                    one.name,
                    one.service.vault,
                    leases.enter_context(one.reader.holder.lease()),
                    one.reader.searcher,
                )
                for one in self.vaults
            ]

    @contextmanager
    def search(self, request: SearchRequest) -> Iterator[FoundPassages]:
        """The hits of all in one ranking. The words of a question count the notes of all."""
        deadline = QueryDeadline(self.settings.deadline_s, self.is_cancelled)
        state = self.state()
        with self.leased() as searched:
            yield FoundPassages(
                search_together(searched, request, self.settings, deadline),
                question_words_together(searched, request.query),
                {one.name: one.snapshot.catalog for one in searched},
                state,
            )

    def state(self) -> IndexState:
        """What is pending in all; together they have no generation. Of a vault that is not searched at least
        one note is missing."""
        pending = sum(one.service.pending() for one in self.vaults)
        missing = sum(one.service.missing() for one in self.vaults) + len(self.notices)
        return IndexState(0, 0, pending, missing)

    def wait_fresh(self) -> list[str]:
        """Wait until the changes of each are in; why they are not, where time runs out."""
        until = time.monotonic() + _FRESH_S
        said = []
        for one in self.vaults:
            if self.is_cancelled():
                raise QueryCancelledError("the search was cancelled")
            left_s = max(0.1, until - time.monotonic())
            said += [f"{one.name}: {text}" for text in one.service.wait_fresh(left_s)]
        return said

    def all_notices(self, late: Sequence[str]) -> tuple[str, ...]:
        """Which vaults are not searched and why, which are `late` (as `wait_fresh` says), what is wrong with
        the configuration of all, and what each vault has to say."""
        own = [
            f"{one.name}: {notice}"
            for one in self.vaults
            for notice in one.service.notices()
            if notice != self.problem
        ]
        return (*self.notices, *late, *([self.problem] if self.problem else ()), *own)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A vault that can be asked."""

    name: str
    service: VaultService
    reader: IndexReader


def search_vaults(ready: ReadyVaults, request: SearchRequest) -> SearchAnswer:
    """Ranked hits of all the vaults, each with the name of its vault.

    A vault that cannot be asked is left out, and a notice says why. `index` counts what is pending in all; it
    has no generation. Raises as `VaultService.search`.
    """
    check_request(request)
    late = ready.wait_fresh() if request.fresh else []
    started = time.perf_counter()
    state = ready.state()
    with ready.leased() as searched:
        deadline = QueryDeadline(ready.settings.deadline_s, ready.is_cancelled)
        found = search_together(searched, request, ready.settings, deadline)
    took_ms = (time.perf_counter() - started) * 1000
    return SearchAnswer(
        request.query,
        round(took_ms, 3),
        state,
        found.hits,
        (*found.notices, *ready.all_notices(late)),
        found.corrections,
        state.restrict(found.verdict),
        found.missing_words,
    )


def ask_vaults(ready: ReadyVaults, request: AskRequest, answerer: Answerer) -> Iterator[AskEvent]:
    """The answer to a question from the passages of all the vaults, as it arises; each citation names its
    vault. Raises as `VaultService.ask_events`."""
    check_request(SearchRequest(request.question, request.limit))
    late = ready.wait_fresh() if request.fresh else []
    for event in answerer.answer_from(ready, request, ready.is_cancelled):
        if isinstance(event, AskAnswer):
            yield replace(event, notices=(*event.notices, *ready.all_notices(late)))
        else:
            yield event
