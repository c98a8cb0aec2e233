"""A search over several vaults: those that answer, and what is said of those that cannot."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import IndexUnusableError, QueryCancelledError, VaultIndexerError
from vault_indexer.model import IndexState, SearchAnswer, SearchRequest
from vault_indexer.search import IndexReader, QueryDeadline, SearchedVault, search_together
from vault_indexer.service import VaultService, check_request
from vault_indexer.vaults.kept import VaultHolder

_FRESH_S = 10.0
"""How long all vaults together are waited for where a search is to be fresh."""


def search_vaults(
    holders: Sequence[VaultHolder],
    request: SearchRequest,
    settings: SearchSettings,
    is_cancelled: Callable[[], bool],
    problem: str = "",
) -> SearchAnswer:
    """Ranked hits of all the vaults, each with the name of its vault. `problem` is a notice of all of them.

    A vault that cannot be asked is left out, and a notice says why. `index` counts what is pending in all; it
    has no generation. Raises as `VaultService.search`, and IndexUnusableError where no vault can be asked.
    """
    check_request(request)
    asked, notices = _ready(holders)
    notices += _waited_for(asked, is_cancelled) if request.fresh else []
    started = time.perf_counter()
    with ExitStack() as leases:
        searched = [
            SearchedVault(
                one.name, service.vault, leases.enter_context(reader.holder.lease()), reader.searcher
            )
            for one, service, reader in asked
        ]
        deadline = QueryDeadline(settings.deadline_s, is_cancelled)
        found = search_together(searched, request, settings, deadline)
    took_ms = (time.perf_counter() - started) * 1000
    notices += _own_notices(asked, problem)
    pending = sum(service.pending() for _, service, _ in asked)
    return SearchAnswer(
        request.query,
        round(took_ms, 3),
        IndexState(0, 0, pending),
        found.hits,
        (*found.notices, *notices),
        found.corrections,
        found.verdict,
    )


_Asked = tuple[VaultHolder, VaultService, IndexReader]


def _ready(holders: Sequence[VaultHolder]) -> tuple[list[_Asked], list[str]]:
    """The vaults that can be asked, and what is said of the others."""
    asked: list[_Asked] = []
    said: list[str] = []
    for one in holders:
        try:
            service = one.service()
            asked.append((one, service, service.reader()))
        except VaultIndexerError as error:
            said.append(f"{one.name} is not searched: {error}")
    if not asked:
        raise IndexUnusableError("; ".join(said) or "there are no vaults")
    return asked, said


def _own_notices(asked: Sequence[_Asked], problem: str) -> list[str]:
    """What each vault has to say, and once what all have to say."""
    own = [
        f"{one.name}: {notice}"
        for one, service, _ in asked
        for notice in service.notices()
        if notice != problem
    ]
    return [*([problem] if problem else []), *own]


def _waited_for(asked: Sequence[_Asked], is_cancelled: Callable[[], bool]) -> list[str]:
    """Wait until the changes of each are in; why they are not, where time runs out."""
    until = time.monotonic() + _FRESH_S
    said = []
    for one, service, _ in asked:
        if is_cancelled():
            raise QueryCancelledError("the search was cancelled")
        said += [f"{one.name}: {text}" for text in service.wait_fresh(max(0.1, until - time.monotonic()))]
    return said
