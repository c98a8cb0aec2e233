"""One search over several vaults: one ranking, as if their notes were in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import QueryError
from vault_indexer.model import Hit, SearchRequest
from vault_indexer.ports import EmbeddingModel
from vault_indexer.search.confidence import verdict_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.prepare import PreparedQuery, QueriedVault, prepare_together
from vault_indexer.search.present import RankedChunk
from vault_indexer.search.question import QuestionWord, missing_words, question_words
from vault_indexer.search.rank import (
    LISTED,
    Ranked,
    Source,
    local_key,
    rank_together,
    reasons_of,
    relative,
    source_of,
)
from vault_indexer.search.searcher import (
    UNFINISHED,
    Searcher,
    SearchResult,
    at_most_per_note,
    with_files,
)
from vault_indexer.search.shared_words import shared_words
from vault_indexer.store import Snapshot

_RANKS = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True)
class SearchedVault:
    """A vault of a search: what it is called, its folder, its state, and what searches it."""

    name: str
    folder: Path
    snapshot: Snapshot
    searcher: Searcher


@dataclass(frozen=True, slots=True)
class _Group:
    """Vaults of one model, whose chunks have comparable scores. The snapshots share their words."""

    vaults: tuple[SearchedVault, ...]
    prepared: tuple[PreparedQuery, ...]

    @property
    def lead(self) -> Searcher:
        """The searcher whose settings hold for the group."""
        return self.vaults[0].searcher

    def rank(self, settings: SearchSettings, request: SearchRequest, limit: int) -> Ranked:
        """The chunks of all its vaults in one ranking."""
        sources = [Source(one.snapshot, query) for one, query in zip(self.vaults, self.prepared, strict=True)]
        return rank_together(sources, settings, self.lead.fields, by_note=request.by_note, limit=limit)


class _Candidate(NamedTuple):
    """A ranked chunk: its score beside the best one's, the number of its group, and its key there."""

    score: float
    group: int
    key: int


def search_together(
    vaults: Sequence[SearchedVault], request: SearchRequest, settings: SearchSettings, deadline: QueryDeadline
) -> SearchResult:
    """The best chunks of all the vaults, ranked by `settings`; each hit names its vault.

    Where the vaults have one model, the answer is nearly that of one index over all of them: statistics of
    words are summed, scores by word count beside the best one of all, and what was found in one vault counts
    for the others. Vaults of different models are fused by rank, and a notice says so. The verdict is that of
    one vault: the first hits decide. Raises as `Searcher.search`.
    """
    vaults = [replace(one, searcher=one.searcher.with_settings(settings)) for one in vaults]
    try:
        groups = [_prepare(group, request, deadline) for group in _by_model(vaults)]
    except QueryError as error:
        if not request.as_you_type:
            raise
        return SearchResult((), (str(error),) if request.query.strip(UNFINISHED) else ())
    if not groups[0].prepared[0].text:
        return _newest(groups, request)
    return _search(groups, request, settings)


def question_words_together(vaults: Sequence[SearchedVault], question: str) -> tuple[QuestionWord, ...]:
    """As `question_words`, where the vaults have one collection of words, whatever their models."""
    snapshots = shared_words([one.snapshot for one in vaults])
    return question_words(snapshots[0], question, vaults[0].searcher.fields)


def family_of(model: EmbeddingModel) -> tuple[str, str, int]:
    """What two models have in common whose cosines can be compared: the weights of tokens may differ."""
    return model.provider, model.name.partition("+")[0], model.dimension


def _by_model(vaults: Sequence[SearchedVault]) -> list[list[SearchedVault]]:
    groups: dict[tuple[str, str, int], list[SearchedVault]] = {}
    for one in vaults:
        groups.setdefault(family_of(one.searcher.embedder.model), []).append(one)
    return list(groups.values())


def _prepare(vaults: Sequence[SearchedVault], request: SearchRequest, deadline: QueryDeadline) -> _Group:
    snapshots = shared_words([one.snapshot for one in vaults])
    shared = tuple(replace(one, snapshot=snapshot) for one, snapshot in zip(vaults, snapshots, strict=True))
    queried = [QueriedVault(one.snapshot, one.searcher.embedder, one.name) for one in shared]
    now = datetime.now().astimezone()
    prepared = prepare_together(queried, request, vaults[0].searcher.fields, now, deadline)
    return _Group(shared, tuple(prepared))


def _search(groups: Sequence[_Group], request: SearchRequest, settings: SearchSettings) -> SearchResult:
    lead = groups[0].lead
    limit = lead.limit(request)
    rankings = [group.rank(settings, request, limit) for group in groups]
    order = _merged(rankings)
    shown = list(islice(_few_per_note(order, lead.per_note(request)), limit))
    built = [
        part
        for number, group in enumerate(groups)
        for part in _build(group, rankings[number], [one for one in shown if one.group == number], request)
    ]
    hits = {(one.group, one.key): hit for part in built for one, hit in part.hits.items()}
    ordered = [hits[one.group, one.key] for one in shown if (one.group, one.key) in hits]
    files = [file for part in built for file in part.files]
    all_hits = with_files(ordered, files)[:limit]
    relevance = {one: value for part in built for one, value in part.relevance.items()}
    verdict = verdict_of(relevance[one] for one in shown)
    if all_hits and all_hits[0].kind in ("attachment", "base"):
        verdict = "strong"
    notices = _notices(groups, found=bool(shown or files))
    corrections = groups[0].prepared[0].corrections
    return SearchResult(all_hits, notices, corrections, verdict, _missing_words(groups))


def _missing_words(groups: Sequence[_Group]) -> tuple[str, ...]:
    """The words of the query that no vault has. The vaults of a group share their words."""
    first, *others = (
        missing_words(one.vaults[0].snapshot, one.prepared[0], one.lead.fields) for one in groups
    )
    return tuple(word for word in first if all(word in other for other in others))


def _merged(rankings: Sequence[Ranked]) -> list[_Candidate]:
    """The candidates of all groups, best first: by score, or by rank where there are several."""
    found: list[_Candidate] = []
    for number, ranked in enumerate(rankings):
        for rank, key in enumerate(ranked.order, start=1):
            by_rank = (_RANKS + 1) / (_RANKS + rank)
            found.append(_Candidate(relative(ranked, key) if len(rankings) == 1 else by_rank, number, key))
    return sorted(found, key=lambda one: (-one.score, one.group)) if len(rankings) > 1 else found


def _few_per_note(order: Sequence[_Candidate], most: int) -> Iterator[_Candidate]:
    left = {
        (number, key)
        for number in {one.group for one in order}
        for key in at_most_per_note((one.key for one in order if one.group == number), most)
    }
    return (one for one in order if (one.group, one.key) in left)


class _Built(NamedTuple):
    """What one vault gives to the answer."""

    relevance: Mapping[_Candidate, float]
    hits: Mapping[_Candidate, Hit]
    files: tuple[Hit, ...]


def _build(
    group: _Group, ranked: Ranked, shown: Sequence[_Candidate], request: SearchRequest
) -> Iterator[_Built]:
    for number, (vault, prepared) in enumerate(zip(group.vaults, group.prepared, strict=True)):
        own = {local_key(one.key): one for one in shown if source_of(one.key) == number}
        snapshot, searcher, alone = vault.snapshot, vault.searcher, ranked.of(number)
        relevance = searcher.relevance(snapshot, prepared, alone, list(own))
        kept = [key for key in own if relevance[key] >= searcher.least(request)]
        reasons = reasons_of(snapshot, prepared, alone, kept, searcher.fields, by_field=request.by_field)
        builder = searcher.builder(snapshot, prepared, request, vault.folder)
        chunks = [RankedChunk(key, own[key].score, reasons[key], relevance[key]) for key in kept]
        hits = {
            own[one.key]: replace(hit, vault=vault.name) for one in chunks for hit in builder.build([one])
        }
        files = searcher.files(snapshot, prepared, request, builder)
        yield _Built(
            {own[key]: value for key, value in relevance.items()},
            hits,
            tuple(replace(file, vault=vault.name) for file in files),
        )


def _newest(groups: Sequence[_Group], request: SearchRequest) -> SearchResult:
    """The answer to a query of filters alone."""
    hits: list[Hit] = []
    for group in groups:
        for vault, prepared in zip(group.vaults, group.prepared, strict=True):
            found = vault.searcher.list_newest(vault.snapshot, prepared, request, vault.folder)
            hits.extend(replace(hit, vault=vault.name) for hit in found.hits)
    newest = sorted(hits, key=lambda hit: hit.modified_time, reverse=True)[: groups[0].lead.limit(request)]
    notices = _notices(groups, found=bool(newest))
    return (
        SearchResult(tuple(newest), (*notices, LISTED), verdict="strong")
        if newest
        else SearchResult((), notices)
    )


def _notices(groups: Sequence[_Group], *, found: bool) -> tuple[str, ...]:
    """What the vaults have to say of the query, each once. That nothing matches the filters is said only
    where it holds for all of them."""
    said = [notice for group in groups for one in group.prepared for notice in one.notices]
    of_filters = [one.notices_of_filters(found=found) for group in groups for one in group.prepared]
    if all(of_filters) or found:
        said += [notice for notices in of_filters for notice in notices]
    if len(groups) > 1:
        names = "; ".join(", ".join(one.name for one in group.vaults) for group in groups)
        said.append(f"the vaults have different embedding models ({names}): their hits are merged by rank")
    return tuple(dict.fromkeys(said))
