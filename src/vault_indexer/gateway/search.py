"""One search over the vaults that a user may read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice

from vault_indexer.config.gateway import GatewaySettings, GatewayUser
from vault_indexer.errors import BackendError, ProviderError, UsageError
from vault_indexer.gateway.bodies import Bodies, BodySource
from vault_indexer.gateway.calls import MilvusCalls
from vault_indexer.gateway.models import MAX_MODELS, QueryModels, no_vector
from vault_indexer.gateway.published import PublishedVaults
from vault_indexer.gateway.published_hits import hits_of
from vault_indexer.gateway.question import Question, parse_gateway_query
from vault_indexer.gateway.users import full_name
from vault_indexer.model import GatewayAnswer, first_per_note
from vault_indexer.search.present import Snippets
from vault_indexer.search.rank import reciprocal_rank_fusion
from vault_indexer.store import FoundChunk, Fusion, Selection, VaultScope, in_order, note_of_chunk
from vault_indexer.store.milvus import CollectionMissingError, MilvusRetriever, MilvusVaults, VaultState
from vault_indexer.text.language import detect
from vault_indexer.text.query import analyze_query

_FUSION = Fusion()
_CHECKED = 1000
"""Chunks that are looked at where a condition is checked of each one here."""


@dataclass(frozen=True, slots=True)
class SearchOrder:
    """A request. `folder` and `kind` are filters of the server; "" is none."""

    query: str
    limit: int = 10
    by_note: bool = False
    vault: str = ""
    folder: str = ""
    kind: str = ""
    with_text: bool = True


@dataclass(frozen=True, slots=True)
class _Group:
    """The vaults of one collection whose questions have one vector."""

    collection: str
    model: str
    weights: str
    states: tuple[VaultState, ...]

    @property
    def scope(self) -> VaultScope:
        return VaultScope.of([state.vault for state in self.states])

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for state in self.states for one in state.languages))


class GatewaySearch:
    """Answers searches. It keeps no state between two of them; any thread may call it."""

    def __init__(
        self,
        vaults: MilvusVaults,
        published: PublishedVaults,
        calls: MilvusCalls,
        bodies: BodySource,
        settings: GatewaySettings,
    ) -> None:
        self._vaults = vaults
        self._published = published
        self._calls = calls
        self._bodies = bodies
        self._settings = settings
        self._models = QueryModels(vaults, calls)

    def search(self, user: GatewayUser, order: SearchOrder) -> GatewayAnswer:
        """The best hits of the vaults that the user may read.

        Raises QueryError for a query that a gateway cannot answer, UnknownVaultError, UsageError for vaults
        of too many models, and BackendError where the server does not answer or is too slow.
        """
        began = time.monotonic()
        question = parse_gateway_query(order.query, datetime.now().astimezone())
        states = self._published.of(user, order.vault)
        groups = _groups(states.values())
        notices = list(question.notices)
        if len(groups) > MAX_MODELS:
            raise UsageError(
                f"your vaults have {len(groups)} models, a search can have {MAX_MODELS}: name one by vault="
            )
        self._check_cost(order, question, states.values())
        if len(groups) > 1:
            notices.append(_models_notice(groups))
        until = began + self._settings.server.timeout_s / 2
        rankings = []
        for group in groups:
            if time.monotonic() > until:
                raise BackendError("the search server is too slow: try again, or name one vault by vault=")
            found, own = self._ask(group, question, order)
            rankings.append(found)
            notices += own
        hits = _joined(rankings, order.limit)
        terms = [term for group in groups for term in analyze_query(question.text, group.languages)]
        languages = tuple(dict.fromkeys(one for group in groups for one in group.languages))
        words: dict[str, tuple[str, ...]] = {term.word: () for term in terms}
        snippets = Snippets(words, self._settings.snippet_chars, detect(question.text, languages))
        bodies = self._bodies.of(hits, states) if order.with_text and hits else Bodies({})
        self._calls.metrics.count_hits(len(hits))
        notices += self._stale_notices(hits, states)
        return GatewayAnswer(
            query=order.query,
            took_ms=1000 * (time.monotonic() - began),
            results=hits_of(hits, states, bodies, terms, snippets),
            notices=tuple(dict.fromkeys([*notices, *bodies.notices])),
        )

    def _check_cost(self, order: SearchOrder, question: Question, states: Iterable[VaultState]) -> None:
        chunks, most = sum(state.chunks for state in states), self._settings.max_filtered_chunks
        if (order.folder or question.tags) and chunks > most:
            raise UsageError(
                f"a folder or a tag in {chunks:,} parts of notes costs too much, {most:,} are allowed: "
                "name one vault by vault="
            )

    def _stale_notices(self, hits: Sequence[FoundChunk], states: Mapping[str, VaultState]) -> list[str]:
        found = {states[hit.vault].vault: states[hit.vault] for hit in hits}
        return [
            f"{full_name(state)} may be out of date: its keeper was last seen at {state.seen_at}"
            for _, state in sorted(found.items())
            if self._published.is_stale(state)
        ]

    def _ask(
        self, group: _Group, question: Question, order: SearchOrder
    ) -> tuple[list[FoundChunk], list[str]]:
        """The ranking of one group, cut, and what the user should know of it."""
        notices: list[str] = []
        try:
            vector = self._models.vector(group.model, group.weights, question.text)
        except ProviderError as error:
            vector = no_vector(group.model)
            notices.append(f"only words were searched in {_names(group)}: {error}")
        per_note = 1 if order.by_note else self._settings.max_chunks_per_note
        selection = Selection(
            limit=order.limit,
            per_note=per_note,
            folders=(order.folder,) if order.folder else (),
            tags=question.tags,
            kinds=(order.kind,) if order.kind else (),
        )
        if question.conditions:
            selection = replace(selection, limit=_CHECKED, per_note=0, depth=_CHECKED)
        terms = analyze_query(question.text, group.languages)
        retriever = MilvusRetriever(self._vaults, group.collection)
        ask = partial(retriever.hybrid, group.scope, vector, terms, selection, _FUSION)
        try:
            found = self._calls.run("search", ask)
        except CollectionMissingError:
            return [], [*notices, f"not searched, since it is being published again: {_names(group)}"]
        if question.conditions:
            return self._checked(found, question, order.limit, per_note, notices)
        return found, notices

    def _checked(
        self, found: Sequence[FoundChunk], question: Question, limit: int, per_note: int, notices: list[str]
    ) -> tuple[list[FoundChunk], list[str]]:
        leaving = (one for one in found if question.leaves(one))
        left = list(islice(first_per_note(leaving, note_of_chunk, per_note), limit))
        if len(left) < limit and len(found) >= _CHECKED:
            written = " ".join(condition.source for condition in question.conditions)
            notices.append(
                f"some hits may be missing: {written} was checked of the best {_CHECKED:,} parts of notes"
                " only; add a rarer word, a tag, or the parameter folder"
            )
        return left, notices


def _groups(states: Iterable[VaultState]) -> list[_Group]:
    """The vaults by what has to be asked once for each."""
    found: dict[tuple[str, str, str], list[VaultState]] = {}
    for state in sorted(states, key=lambda one: one.vault):
        found.setdefault((state.collection, state.model, state.weights), []).append(state)
    return [_Group(*key, tuple(own)) for key, own in sorted(found.items())]


def _joined(rankings: Sequence[Sequence[FoundChunk]], limit: int) -> list[FoundChunk]:
    """One ranking: that of the server, or several by rank (RRF), as their scores are not comparable."""
    if len(rankings) == 1:
        return list(rankings[0])[:limit]
    lists = {str(number): [(one.vault, one.key) for one in own] for number, own in enumerate(rankings)}
    fused = reciprocal_rank_fusion(lists, dict.fromkeys(lists, 1.0), _FUSION.rank_constant)
    return in_order(replace(one, score=fused[one.vault, one.key]) for own in rankings for one in own)[:limit]


def _names(group: _Group) -> str:
    return ", ".join(sorted({state.name for state in group.states}))


_NAMED_MODELS = 3


def _models_notice(groups: Sequence[_Group]) -> str:
    """What a searcher should know whose vaults cannot be compared."""
    named = [f"{_names(one)} ({one.model}{', weights of its own' * bool(one.weights)})" for one in groups]
    more = f" and {len(named) - _NAMED_MODELS} more" if len(named) > _NAMED_MODELS else ""
    return (
        f"your vaults have {len(groups)} models, so their hits are taken by turns, not by how good they are; "
        f"name one by vault=: {'; '.join(named[:_NAMED_MODELS])}{more}"
    )
