"""One search over one vault or several: one ranking, as if their notes were in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import QueryError
from vault_indexer.model import (
    Correction,
    Hit,
    SearchRequest,
    Verdict,
    Why,
    first_per_note,
    note_id_of,
    up_to_notes,
)
from vault_indexer.ports import EmbeddingModel
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.confidence import count_likely, relevance_of, verdict_of
from vault_indexer.search.copies import Copies, find_copies
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters import text_pattern
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.present import Expansion, HitBuilder, RankedChunk, Snippets
from vault_indexer.search.query import ranking_words
from vault_indexer.search.question import missing_words
from vault_indexer.search.rank import (
    LISTED,
    Candidates,
    list_by_time,
    match_titles,
    rank,
    reasons_of,
)
from vault_indexer.store.catalog import fold_path

_WHOLE = 0.999
"""From this coverage on a note holds all words of the query; it is a sum of shares."""

_WEIGHED = 4
"""Of vaults of different models the relevance of this many times the hits is looked at: some are copies, or
one note has too many. A rule of thumb."""

_UNFINISHED = ' "()'
"""A query of these characters alone looks for nothing: while the user types, that needs no notice."""

_Group = Sequence[PreparedQuery]
"""The query for each vault of one model; their chunks have comparable scores."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, scores in [0, 1] with the best at 1, and what the user should know of them."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()
    likely: int = 0


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How much an answer shows: at most `notes`, `per_note` hits of each, none below `least` relevance."""

    notes: int
    per_note: int
    least: float

    @classmethod
    def of(cls, request: SearchRequest, settings: SearchSettings) -> AnswerLimits:
        return cls(
            request.limit or settings.limit,
            1 if request.by_note else settings.max_chunks_per_note,
            settings.min_relevance if request.min_relevance is None else request.min_relevance,
        )


class Place(NamedTuple):
    """A ranked chunk: its score beside the best one's, the number of its group, and its row there. Of several
    groups the score is what the relevance counts."""

    score: float
    group: int
    row: int


def search_vaults(
    vaults: Sequence[SearchedVault], request: SearchRequest, settings: SearchSettings, deadline: QueryDeadline
) -> SearchResult:
    """The best chunks of all the vaults, ranked by `settings`; each hit has the name of its vault.

    Where the vaults have one model, the answer is nearly that of one index over all of them: statistics of
    words are summed, scores by word count relative to the best one of all, and what was found in one vault
    counts for the others. Hits of vaults of different models are ordered by their relevance, and a notice
    says so. The verdict is that of one vault: the first hits decide.

    Raises QueryTimeoutError or QueryCancelledError when the deadline ends the query. Raises QueryError for a
    wrong query; while the user types, a query may only be unfinished, so the answer is empty then and has the
    error as a notice.
    """
    try:
        synonyms = settings.synonyms.groups
        groups = [prepare_query(group, request, deadline, synonyms) for group in _by_model(vaults)]
    except QueryError as error:
        if not request.as_you_type:
            raise
        return SearchResult((), (str(error),) if request.query.strip(_UNFINISHED) else ())
    if not groups[0][0].text:
        return _list_newest(groups, request, settings)
    return _search(groups, request, settings)


def family_of(model: EmbeddingModel) -> tuple[str, str, int]:
    """What two models have in common whose cosines can be compared: the weights of tokens may differ."""
    return model.provider, model.name.partition("+")[0], model.dimension


def _by_model(vaults: Sequence[SearchedVault]) -> list[list[SearchedVault]]:
    groups: dict[tuple[str, str, int], list[SearchedVault]] = {}
    for one in vaults:
        groups.setdefault(family_of(one.embedder.model), []).append(one)
    return list(groups.values())


def _search(groups: Sequence[_Group], request: SearchRequest, settings: SearchSettings) -> SearchResult:
    limits = AnswerLimits.of(request, settings)
    tables = [rank(group, settings, by_note=request.by_note, limit=limits.notes) for group in groups]
    copies = [find_copies(group, table) for group, table in zip(groups, tables, strict=True)]
    shown = _beside_best(shown_places(groups, tables, copies, limits))
    relevance: dict[Place, float] = {}
    hits: dict[Place, Hit] = {}
    files: list[Hit] = []
    for number, ranked in enumerate(map(_Ranked, groups, tables, copies)):
        for part in _build(ranked, [one for one in shown if one.group == number], request, settings):
            relevance |= part.relevance
            hits |= part.hits
            files += part.files
    all_hits = _first_notes(_with_files([hits[one] for one in shown if one in hits], files), limits)
    verdict = verdict_of(relevance[one] for one in shown)
    if all_hits and all_hits[0] in files:
        verdict = "strong"
    unread = [fold_path(hit.title) for hit in files if hit.snippet]  # notes, though none that could be read
    missing = [word for word in _missing_words(groups) if not any(fold_path(word) in name for name in unread)]
    return SearchResult(
        all_hits,
        _notices(groups, found=bool(shown or files)),
        groups[0][0].corrections,
        verdict,
        tuple(missing),
        count_likely([hit.relevance for hit in all_hits], verdict),
    )


def _first_notes(hits: Iterable[Hit], limits: AnswerLimits) -> tuple[Hit, ...]:
    return tuple(up_to_notes(hits, lambda hit: (hit.vault, hit.path), limits.notes))


def shown_places(
    groups: Sequence[_Group], tables: Sequence[Candidates], copies: Sequence[Copies], limits: AnswerLimits
) -> list[Place]:
    """The candidates of all groups that an answer shows, best first: no copies, and so many of one note.
    They end where one note more than wanted would begin."""
    notes = [table.note.tolist() for table in tables]
    merged = _merged(groups, tables, _WEIGHED * limits.notes)
    places = (one for one in merged if notes[one.group][one.row] not in copies[one.group].shown_note)

    def note_of(place: Place) -> tuple[int, int]:
        return place.group, notes[place.group][place.row]

    return list(up_to_notes(first_per_note(places, note_of, limits.per_note), note_of, limits.notes))


def _merged(groups: Sequence[_Group], tables: Sequence[Candidates], weighed: int) -> list[Place]:
    """The candidates of all groups, best first: by score, or by relevance where there are several.

    Scores of different models cannot be compared, and relevance can. Each group keeps its own order: a row
    counts for no more than those before it. Behind the first `weighed` rows of each group ranks decide.
    """
    if len(tables) == 1:
        scores = tables[0].normalized_scores().tolist()
        return [Place(score, 0, row) for row, score in enumerate(scores)]
    found = []
    for number, (group, table) in enumerate(zip(groups, tables, strict=True)):
        rows = list(range(min(weighed, len(table))))
        known = _relevance_of_rows(group, table, rows)
        worth = [*accumulate((known[row] for row in rows), min), *([0.0] * (len(table) - len(rows)))]
        found += [Place(value, number, row) for row, value in enumerate(worth)]
    return sorted(found, key=lambda one: (-one.score, one.row, one.group))


def _beside_best(shown: Sequence[Place]) -> list[Place]:
    """The places with their scores beside the first one's; 1 for all where that is 0."""
    top = shown[0].score if shown else 0.0
    return [one._replace(score=one.score / top if top else 1.0) for one in shown]


def _relevance_of_rows(group: _Group, table: Candidates, rows: Sequence[int]) -> dict[int, float]:
    vaults = table.vault.tolist()
    found: dict[int, float] = {}
    for number, query in enumerate(group):
        found |= relevance_of(query, table, [row for row in rows if vaults[row] == number])
    return found


class _Ranked(NamedTuple):
    """The query for the vaults of a group, its ranked candidates, and the copies among them."""

    queries: _Group
    table: Candidates
    copies: Copies


class _Built(NamedTuple):
    """What one vault gives to the answer."""

    relevance: Mapping[Place, float]
    hits: Mapping[Place, Hit]
    files: tuple[Hit, ...]


def _build(
    ranked: _Ranked, shown: Sequence[Place], request: SearchRequest, settings: SearchSettings
) -> Iterator[_Built]:
    limits = AnswerLimits.of(request, settings)
    table, copies = ranked.table, ranked.copies.paths
    vaults, keys, notes = table.vault.tolist(), table.local_key.tolist(), table.note.tolist()
    for number, query in enumerate(ranked.queries):
        own = {one.row: one for one in shown if vaults[one.row] == number}
        relevance = relevance_of(query, table, list(own))
        kept = [row for row in own if relevance[row] >= limits.least]
        reasons = reasons_of(query, table, kept, by_field=request.by_field)
        builder = _builder(query, request, settings)
        hits = builder.build(
            RankedChunk(keys[row], own[row].score, reasons[row], relevance[row], copies.get(notes[row], ()))
            for row in kept
        )
        yield _Built(
            {own[row]: value for row, value in relevance.items()},
            {own[row]: hits[keys[row]] for row in kept if keys[row] in hits},
            _files(query, builder, limits.notes),
        )


def _builder(prepared: PreparedQuery, request: SearchRequest, settings: SearchSettings) -> HitBuilder:
    words = {term.word: term.compounds for term in prepared.terms}
    wanted = dict.fromkeys(text for one in prepared.conditions for text in ranking_words(one.node))
    phrases = [text_pattern(text) for text in wanted]
    snippets = Snippets(words, settings.snippet_chars, prepared.language, phrases)
    expansion = None
    if request.expand:
        expansion = Expansion(request.expand, settings.max_parent_tokens, settings.window_paragraphs)
    return HitBuilder(prepared, snippets, expansion=expansion, stale=request.stale)


def _files(prepared: PreparedQuery, builder: HitBuilder, limit: int) -> tuple[Hit, ...]:
    """The attachments of one vault that answer the query by their names."""
    paths = match_attachments(prepared, name_query(prepared, datetime.now().astimezone()), limit)
    why = Why(None, None, None, recency=1.0, filters=prepared.filters)
    return builder.of_files(paths, 1.0, why) if paths else ()


def _with_files(hits: Sequence[Hit], files: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with the attachments behind the last note that holds all words of the query, as they do: each
    has the score of the hit before it."""
    if not files:
        return tuple(hits)
    at = place_of_files(hit.why.note.coverage if hit.why.note else 0.0 for hit in hits)
    score = hits[at - 1].score if at else 1.0
    return (*hits[:at], *(replace(file, score=score) for file in files), *hits[at:])


def place_of_files(coverages: Iterable[float]) -> int:
    """How many of the notes, whose coverages these are, stand before attachments: all up to the last one that
    holds all words of the query."""
    return max((at for at, one in enumerate(coverages, start=1) if one > _WHOLE), default=0)


def _list_newest(groups: Sequence[_Group], request: SearchRequest, settings: SearchSettings) -> SearchResult:
    """The answer to a query of filters alone: nothing ranks, so the notes changed last come first."""
    limits = AnswerLimits.of(request, settings)
    hits = [hit for group in groups for one in group for hit in _newest_of(one, request, settings)]
    newest_first = sorted(hits, key=lambda hit: (hit.why.title, hit.modified_time), reverse=True)
    newest = _first_notes(newest_first, limits)
    notices = _notices(groups, found=bool(newest))
    if not newest:
        return SearchResult((), notices)
    return SearchResult(newest, (*notices, LISTED), verdict="strong", likely=len(newest))


def _newest_of(prepared: PreparedQuery, request: SearchRequest, settings: SearchSettings) -> tuple[Hit, ...]:
    """The notes of one vault that meet the filters: those that have them as their name (`🐘`), those that
    changed last, and the attachments."""
    assert prepared.chosen is not None
    limits = AnswerLimits.of(request, settings)
    named = match_titles(prepared.snapshot, " ".join(prepared.filters))
    shown = list_by_time(prepared.snapshot, prepared.chosen, limits.notes, limits.per_note, named)
    why = Why(None, None, None, recency=1.0, filters=prepared.filters)
    builder = _builder(prepared, request._replace(expand=""), settings)
    notes = builder.build(
        RankedChunk(key, 1.0, replace(why, title=float(note_id_of(key) in named)), 1.0) for key in shown
    )
    return (*notes.values(), *_files(prepared, builder, limits.notes))


def _missing_words(groups: Sequence[_Group]) -> tuple[str, ...]:
    """The words of the query that no vault has. The vaults of a group share their words."""
    first, *others = map(missing_words, groups)
    return tuple(word for word in first if all(word in other for other in others))


def _notices(groups: Sequence[_Group], *, found: bool) -> tuple[str, ...]:
    """What the vaults have to say of the query, each once. That nothing matches the filters is said only
    where it holds for all of them."""
    said = [notice for group in groups for one in group for notice in one.notices]
    of_filters = [one.notices_of_filters(found=found) for group in groups for one in group]
    if all(of_filters) or found:
        said += [notice for notices in of_filters for notice in notices]
    if len(groups) > 1:
        names = "; ".join(", ".join(one.vault.name for one in group) for group in groups)
        said.append(f"the vaults use different models ({names}): their notes are mixed by relevance")
    return tuple(dict.fromkeys(said))
