"""Searches the vaults that a user may read: like a daemon, over the notes that the server finds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from urllib.parse import quote

from vault_gateway.access import PublishedVaults
from vault_gateway.bodies import Bodies, BodySource, HitPlace
from vault_gateway.calls import MilvusCalls
from vault_gateway.candidates import MAX_MODELS, CandidateNotes, FoundNotes, QueryModels
from vault_gateway.milvus import CollectionMissingError, MilvusRetriever, MilvusVaults, VaultState
from vault_gateway.milvus.retrieval import MAX_LIMIT, Selection, VaultScope
from vault_gateway.settings import GatewaySettings, GatewayUser
from vault_gateway.wire import GatewayAnswer, GatewayHit, GatewaySearchRequest
from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import BackendError, QueryError, UsageError
from vault_indexer.model import Hit, SearchRequest
from vault_indexer.ports import Embedder
from vault_indexer.search import (
    QueryDeadline,
    SearchedVault,
    SearchResult,
    Snippets,
    depth_of,
    prepare_query,
    search_vaults,
)
from vault_indexer.search.query import (
    All,
    Condition,
    Fact,
    InVault,
    Linked,
    Node,
    Phrase,
    Scope,
    Within,
    Word,
    atoms,
    parse_query,
)
from vault_indexer.system import record

# The conditions of a query that a gateway can evaluate: it has the candidate notes, but not all links of a
# vault.


@record
class Question:
    """A query as a gateway answers it. All of its `tags` are required, which the server checks;
    `has_conditions` means that the returned notes need further checks."""

    tags: tuple[str, ...]
    has_conditions: bool
    needs_text: bool


def parse_gateway_query(query: str) -> Question:
    """Parses a query for the server. Raises QueryError for an invalid one, for one that only filters, and for
    operators that a gateway cannot evaluate."""
    parsed = parse_query(query)
    refused = [
        condition
        for condition in parsed.conditions
        if any(isinstance(one, Linked | InVault) for one in atoms(condition.node))
    ]
    if refused:
        named = ", ".join(f"{one.source} ({_why(one)})" for one in refused)
        raise QueryError(f"a gateway cannot evaluate {named}", 1)
    if not parsed.text:
        raise QueryError("the query has only filters; a gateway needs at least one word to rank by", 1)
    tags = [_tags(one.node) for one in parsed.conditions]
    return Question(
        tags=tuple(tag for own in tags for tag in own or ()),
        has_conditions=any(own is None for own in tags),
        needs_text=not all(_is_of_row(leaf) for one in parsed.conditions for leaf in atoms(one.node)),
    )


def _why(condition: Condition) -> str:
    if any(isinstance(one, InVault) for one in atoms(condition.node)):
        return "vault: is a parameter of the request, not part of the query"
    return "only the daemon has the links"


_OF_NAMES = frozenset({Scope.PATH, Scope.FILE, Scope.TAG})


def _is_of_row(leaf: Node) -> bool:
    return isinstance(leaf, Fact) or (isinstance(leaf, Within) and leaf.scope in _OF_NAMES)


def _tags(node: Node) -> list[str] | None:
    """The tags that are all required; None for another condition."""
    match node:
        case Within(Scope.TAG, Word(text, _) | Phrase(text, _), _):
            return [text]
        case Within(Scope.TAG, All(parts), column):
            return _all_tags([Within(Scope.TAG, part, column) for part in parts])
        case All(parts):
            return _all_tags(parts)
        case _:
            return None


def _all_tags(parts: Iterable[Node]) -> list[str] | None:
    found = [_tags(part) for part in parts]
    return None if None in found else [tag for one in found if one for tag in one]


_CHECKED = 250
"""The number of chunks per ranking whose notes are read if a condition must be checked locally."""

NOTHING_PUBLISHED = "no vault that you may read is published"

_COUNTED = 32
"""The number of vaults, largest first, that determine the rarity and spelling of words for all of them."""


@record
class Searched:
    """The vaults with the candidate notes, and notices for the user about missing ones."""

    vaults: tuple[SearchedVault, ...]
    states: Mapping[str, VaultState]
    """The states by the name of the vault in the search."""
    notices: tuple[str, ...]


@record
class _Group:
    """The vaults of one collection that share the vector of a query, the largest first."""

    collection: str
    model: str
    weights: str
    states: tuple[VaultState, ...]

    @property
    def scope(self) -> VaultScope:
        return VaultScope.of([state.vault for state in self.states])

    @property
    def names(self) -> str:
        return ", ".join(sorted({state.name for state in self.states}))


class GatewaySearch:
    """Answers searches. It has no state between two of them; any thread may use it."""

    def __init__(
        self,
        vaults: MilvusVaults,
        published: PublishedVaults,
        calls: MilvusCalls,
        bodies: BodySource,
        settings: GatewaySettings,
    ) -> None:
        self._connection = vaults.connection
        self._published = published
        self._calls = calls
        self._bodies = bodies
        self._settings = settings
        self._models = QueryModels(vaults, calls)
        self.candidates = CandidateNotes(vaults, calls)
        self.search_settings = SearchSettings(
            snippet_chars=settings.snippet_chars,
            max_chunks_per_note=settings.max_chunks_per_note,
            deadline_s=settings.server.timeout_s,
        )

    def search(
        self, user: GatewayUser, order: GatewaySearchRequest, *, with_text: bool = True
    ) -> GatewayAnswer:
        """The best hits of the vaults that the user may read.

        Raises QueryError for a query that a gateway cannot answer, UnknownVaultError, UsageError for vaults
        with too many models, and BackendError if the server does not answer or is too slow.
        """
        began = time.monotonic()
        request = SearchRequest(order.query, order.limit, by_note=order.by_note)
        deadline = QueryDeadline(self._settings.server.timeout_s)
        with self.searched(user, order, deadline) as found:
            result = SearchResult(())
            if found.vaults:
                result = search_vaults(found.vaults, request, self.search_settings, deadline)
            hits, without = self._with_text(found, result.hits, is_wanted=with_text)
        self._calls.metrics.hits.inc(len(hits))
        stale = self._stale_notices(hits, found)
        notices = (*found.notices, *result.notices, *without, *stale)
        return GatewayAnswer(
            query=order.query,
            took_ms=1000 * (time.monotonic() - began),
            results=tuple(_gateway_hit(hit, found.states[hit.vault]) for hit in hits),
            notices=tuple(dict.fromkeys(notices)),
            corrections=result.corrections,
            verdict=result.verdict,
            missing_words=result.missing_words,
            likely=result.likely,
        )

    @contextmanager
    def searched(
        self, user: GatewayUser, order: GatewaySearchRequest, deadline: QueryDeadline
    ) -> Iterator[Searched]:
        """The candidate notes, as vaults that can be searched during the block. Raises as `search`."""
        question = parse_gateway_query(order.query)
        states = self._published.reread(self._published.of(user, order.vault))
        groups = _groups(states.values())
        if len(groups) > MAX_MODELS:
            raise UsageError(
                f"your vaults have {len(groups)} embedding models, but a search can use {MAX_MODELS}: choose "
                "one vault with vault="
            )
        self._check_cost(order, question, states.values())
        until = time.monotonic() + self._settings.server.timeout_s / 2
        notices = [] if states else [NOTHING_PUBLISHED]
        wanted: dict[str, set[int]] = {}
        embedders: dict[str, Embedder] = {}
        for group in groups:
            if time.monotonic() > until:
                raise BackendError(
                    "the search server is too slow: try again, or choose one vault with vault="
                )
            embedder = self._models.embedder(group.model, group.weights)
            embedders |= {state.vault: embedder for state in group.states}
            try:
                for vault, ids in self._ask(group, embedder, order, question, deadline).items():
                    wanted.setdefault(vault, set()).update(ids)
            except (CollectionMissingError, _NotYetError):
                notices.append(f"not searched, because it is being published again: {group.names}")
        names = _names_of(states[vault] for vault in wanted)
        with self.candidates.snapshots(states, wanted) as snapshots:
            late = sorted(states[vault].name for vault in wanted if vault not in snapshots)
            notices += [f"not searched, because it is being published again: {name}" for name in late]
            vaults = tuple(
                SearchedVault(names[vault], None, own.snapshot, embedders[vault])
                for vault, own in sorted(snapshots.items())
            )
            _check_text(question, ((states[vault], own) for vault, own in snapshots.items()))
            by_name = {names[vault]: states[vault] for vault in snapshots}
            yield Searched(vaults, by_name, tuple(notices))

    def _ask(
        self,
        group: _Group,
        embedder: Embedder,
        order: GatewaySearchRequest,
        question: Question,
        deadline: QueryDeadline,
    ) -> dict[str, set[int]]:
        """The candidate notes of a group, by vault. Raises CollectionMissingError."""
        largest = sorted(group.states, key=lambda state: -state.chunks)[:_COUNTED]
        empty = {state.vault: self.candidates.empty(state) for state in largest}
        counted = [
            SearchedVault(vault, None, snapshot, embedder)
            for vault, snapshot in empty.items()
            if snapshot is not None
        ]
        if not counted:
            raise _NotYetError
        prepared = prepare_query(counted, SearchRequest(order.query), deadline)[0]
        depth = depth_of(self.search_settings, order.limit)
        selection = Selection(
            limit=min(MAX_LIMIT, max(_CHECKED, depth) if question.has_conditions else depth),
            folders=(order.folder,) if order.folder else (),
            tags=question.tags,
            kinds=(order.kind,) if order.kind else (),
        )
        retriever = MilvusRetriever(self._connection, group.collection, group.states)
        ask = partial(retriever.both, group.scope, prepared.vector, prepared.terms, selection)
        notes: dict[str, set[int]] = {}
        for one in self._calls.run("search", ask):
            notes.setdefault(one.vault, set()).add(one.note_id)
        return notes

    def _with_text(
        self, found: Searched, hits: Sequence[Hit], *, is_wanted: bool
    ) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits, with text from their keepers for those without published text, and the notices about
        them."""
        places = {number: place for number, hit in enumerate(hits) for place in _place_of(hit, found)}
        if not places:
            return list(hits), ()
        bodies = Bodies({})
        if is_wanted:
            states = {state.vault: state for state in found.states.values()}
            bodies = self._bodies.of(list(places.values()), states)
        shown = list(hits)
        for number, place in places.items():
            body = bodies.known.get((place.vault, place.key), "")
            shown[number] = self._of_body(hits[number], body)
        return shown, bodies.notices

    def _of_body(self, hit: Hit, body: str) -> Hit:
        """A hit with the text from its keeper ("": none)."""
        words = hit.why.keyword.terms if hit.why.keyword else {}
        compounds: dict[str, tuple[str, ...]] = dict.fromkeys(words, ())
        snippets = Snippets(compounds, self._settings.snippet_chars, hit.language)
        snippet = snippets.of(body, words) if body else None
        return replace(
            hit,
            content=body,
            snippet=snippet.text if snippet else "",
            marks=snippet.marks if snippet else (),
            line=hit.start_line + (body.count("\n", 0, snippet.at) if snippet else 0),
        )

    def _check_cost(
        self, order: GatewaySearchRequest, question: Question, states: Iterable[VaultState]
    ) -> None:
        chunks, most = sum(state.chunks for state in states), self._settings.max_filtered_chunks
        if (order.folder or question.tags) and chunks > most:
            raise UsageError(
                f"a folder or a tag in {chunks:,} parts of notes is too slow, the maximum is {most:,}: "
                "choose one vault with vault="
            )

    def _stale_notices(self, hits: Sequence[Hit], found: Searched) -> list[str]:
        states = {hit.vault: found.states[hit.vault] for hit in hits}
        return [
            f"{state.full_name} may be out of date: its keeper was last seen at {state.seen_at}"
            for _, state in sorted(states.items())
            if self._published.is_stale(state)
        ]


class _NotYetError(Exception):
    """No vault of a group has statistics yet."""


def _check_text(question: Question, found: Iterable[tuple[VaultState, FoundNotes]]) -> None:
    """Raises QueryError for conditions on the text of vaults whose text is not published."""
    without = sorted({state.name for state, own in found if not own.have_text})
    if question.needs_text and without:
        raise QueryError(
            f"the text of {', '.join(without)} is not published, but the query has conditions on it; choose "
            "another vault with vault=",
            1,
        )


def _groups(states: Iterable[VaultState]) -> list[_Group]:
    """Groups the vaults by the queries that they share."""
    found: dict[tuple[str, str, str], list[VaultState]] = {}
    for state in sorted(states, key=lambda one: one.vault):
        found.setdefault((state.collection, state.model, state.weights), []).append(state)
    return [_Group(*key, tuple(own)) for key, own in sorted(found.items())]


def _names_of(states: Iterable[VaultState]) -> dict[str, str]:
    """The name of each vault in a search: keeper and name, or its id if two have the same."""
    named = {state.vault: state.full_name for state in states}
    often = Counter(named.values())
    return {vault: name if often[name] == 1 else vault for vault, name in named.items()}


def _place_of(hit: Hit, found: Searched) -> Iterator[HitPlace]:
    """The place of a hit's text, if it is not published."""
    if hit.content.strip() or hit.chunk is None:
        return
    catalog = next(vault.snapshot.catalog for vault in found.vaults if vault.name == hit.vault)
    note = catalog.note(hit.path)
    for row in catalog.chunks_of(note.note_id) if note else ():
        if row.chunk.chunk_id == hit.chunk_id:
            yield HitPlace(found.states[hit.vault].vault, row.key, hit.path, hit.start_pos, hit.end_pos)


def _gateway_hit(hit: Hit, state: VaultState) -> GatewayHit:
    own = {one.name: getattr(hit, one.name) for one in fields(Hit)}
    uri = f"obsidian://open?vault={quote(state.name, safe='')}&file={quote(hit.path, safe='')}"
    more = {"vault": state.name, "keeper": state.keeper, "published_at": state.published_at, "uri": uri}
    return GatewayHit(**own | more)
