"""Searches one or more vaults and returns one ranking, as if all notes were in one vault."""

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
"""From this coverage a note contains all words of the query. It is below 1 because a coverage is a sum of
rounded shares."""

_WEIGHED = 4
"""With vaults of different models, the relevance is computed for this multiple of the limit, because some
candidates are copies or exceed the limit per note. A rule of thumb."""

_UNFINISHED = ' "()'
"""A query of these characters alone searches for nothing, which needs no notice while the user types."""

_Group = Sequence[PreparedQuery]
"""The query for each vault of one model. The scores of their chunks are comparable."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, with scores in [0, 1] and 1 for the best, and the notices for the user."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()
    likely: int = 0


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The limits of the results: at most `notes` notes, at most `per_note` hits of each note, and no hit with
    a relevance below `least`."""

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
    """A ranked chunk: its score relative to the best one, the number of its group, and its row there. With
    several groups the score is derived from the relevance."""

    score: float
    group: int
    row: int


def search_vaults(
    vaults: Sequence[SearchedVault], request: SearchRequest, settings: SearchSettings, deadline: QueryDeadline
) -> SearchResult:
    """Returns the best chunks of all the vaults, ranked by `settings`. Each hit has the name of its vault.

    If all vaults use one model, the result is nearly that of one index over all of them: word statistics are
    summed, word scores are relative to the best score of all vaults, and the hits in one vault influence the
    others. Hits of vaults with different models are ordered by relevance, and a notice reports this. The
    verdict depends on the first hits, as for one vault.

    Raises QueryTimeoutError or QueryCancelledError when the deadline ends the query. Raises QueryError for an
    invalid query. While the user types, a query may merely be unfinished, so the result is then empty and has
    the error as a notice.
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
    """Returns a key that is equal for models with comparable cosines. Their token weights may differ."""
    return model.provider, model.name.partition("+")[0], model.dimension


def _by_model(vaults: Sequence[SearchedVault]) -> list[list[SearchedVault]]:
    groups: dict[tuple[str, str, int], list[SearchedVault]] = {}
    for vault in vaults:
        groups.setdefault(family_of(vault.embedder.model), []).append(vault)
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
        for part in _build(ranked, [place for place in shown if place.group == number], request, settings):
            relevance |= part.relevance
            hits |= part.hits
            files += part.files
    all_hits = _first_notes(_with_files([hits[place] for place in shown if place in hits], files), limits)
    verdict = verdict_of(relevance[place] for place in shown)
    # A file whose name matches the query is a certain hit, whatever the notes behind it.
    if all_hits and all_hits[0] in files:
        verdict = "strong"
    unread = [fold_path(hit.title) for hit in files if hit.snippet]  # notes that could not be read
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
    """Returns the candidates of all groups that the results show, best first, without copies and within
    `limits`."""
    notes = [table.note.tolist() for table in tables]
    merged = _merged(groups, tables, _WEIGHED * limits.notes)

    def note_of(place: Place) -> tuple[int, int]:
        return place.group, notes[place.group][place.row]

    places = (place for place in merged if note_of(place)[1] not in copies[place.group].shown_note)
    return list(up_to_notes(first_per_note(places, note_of, limits.per_note), note_of, limits.notes))


def _merged(groups: Sequence[_Group], tables: Sequence[Candidates], weighed: int) -> list[Place]:
    """Returns the candidates of all groups, best first: by score for one group, by relevance for several.

    Relevance is comparable between models, scores are not. The order within each group stays, because the
    value of a row never exceeds that of the rows before it. After the first `weighed` rows of each group,
    ranks decide.
    """
    if len(tables) == 1:
        scores = tables[0].normalized_scores().tolist()
        return [Place(score, 0, row) for row, score in enumerate(scores)]
    places = []
    for number, (group, table) in enumerate(zip(groups, tables, strict=True)):
        rows = list(range(min(weighed, len(table))))
        relevance = _relevance_of_rows(group, table, rows)
        values = [*accumulate((relevance[row] for row in rows), min), *([0.0] * (len(table) - len(rows)))]
        places += [Place(value, number, row) for row, value in enumerate(values)]
    return sorted(places, key=lambda place: (-place.score, place.row, place.group))


def _beside_best(shown: Sequence[Place]) -> list[Place]:
    """Returns the places with scores relative to the first one's, or with 1 for all if that is 0."""
    top = shown[0].score if shown else 0.0
    return [place._replace(score=place.score / top if top else 1.0) for place in shown]


def _relevance_of_rows(group: _Group, table: Candidates, rows: Sequence[int]) -> dict[int, float]:
    vaults = table.vault.tolist()
    relevance: dict[int, float] = {}
    for number, query in enumerate(group):
        relevance |= relevance_of(query, table, [row for row in rows if vaults[row] == number])
    return relevance


class _Ranked(NamedTuple):
    """The query for the vaults of a group, its ranked candidates, and the copies among them."""

    queries: _Group
    table: Candidates
    copies: Copies


class _Built(NamedTuple):
    """The part of the results that comes from one vault."""

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
        own = {place.row: place for place in shown if vaults[place.row] == number}
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
    texts = dict.fromkeys(text for condition in prepared.conditions for text in ranking_words(condition.node))
    phrases = [text_pattern(text) for text in texts]
    snippets = Snippets(words, settings.snippet_chars, prepared.language, phrases)
    expansion = None
    if request.expand:
        expansion = Expansion(request.expand, settings.max_parent_tokens, settings.window_paragraphs)
    return HitBuilder(prepared, snippets, expansion=expansion, stale=request.stale)


def _files(prepared: PreparedQuery, builder: HitBuilder, limit: int) -> tuple[Hit, ...]:
    """Returns the attachments of one vault whose names match the query."""
    paths = match_attachments(prepared, name_query(prepared, datetime.now().astimezone()), limit)
    why = Why(None, None, None, recency=1.0, filters=prepared.filters)
    return builder.of_files(paths, 1.0, why) if paths else ()


def _with_files(hits: Sequence[Hit], files: Sequence[Hit]) -> tuple[Hit, ...]:
    """Returns the hits with the attachments inserted after the last note that contains all words of the
    query, since attachments contain all of them too. Each attachment gets the score of the hit before it."""
    if not files:
        return tuple(hits)
    at = place_of_files(hit.why.note.coverage if hit.why.note else 0.0 for hit in hits)
    score = hits[at - 1].score if at else 1.0
    return (*hits[:at], *(replace(file, score=score) for file in files), *hits[at:])


def place_of_files(coverages: Iterable[float]) -> int:
    """Returns the number of notes that precede the attachments: all up to the last one that contains all
    words of the query. `coverages` are those of the notes, in order."""
    return max((at for at, coverage in enumerate(coverages, start=1) if coverage > _WHOLE), default=0)


def _list_newest(groups: Sequence[_Group], request: SearchRequest, settings: SearchSettings) -> SearchResult:
    """Returns the results of a query of filters only. No words rank the notes, so the most recently changed
    come first."""
    limits = AnswerLimits.of(request, settings)
    hits = [hit for group in groups for query in group for hit in _newest_of(query, request, settings)]
    # A note whose name is the query has a title score, so it comes before newer notes.
    newest_first = sorted(hits, key=lambda hit: (hit.why.title, hit.modified_time), reverse=True)
    newest = _first_notes(newest_first, limits)
    notices = _notices(groups, found=bool(newest))
    if not newest:
        return SearchResult((), notices)
    return SearchResult(newest, (*notices, LISTED), verdict="strong", likely=len(newest))


def _newest_of(prepared: PreparedQuery, request: SearchRequest, settings: SearchSettings) -> tuple[Hit, ...]:
    """Returns the hits of one vault that meet the filters: notes named like the filters (`🐘`), the most
    recently changed notes, and the attachments."""
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
    """Returns the query words that no vault contains. The vaults of a group share their words."""
    first, *others = map(missing_words, groups)
    return tuple(word for word in first if all(word in other for other in others))


def _notices(groups: Sequence[_Group], *, found: bool) -> tuple[str, ...]:
    """Returns the notices of all vaults, each once. Without hits, the notices about filters are included only
    if every vault has one."""
    messages = [notice for group in groups for query in group for notice in query.notices]
    of_filters = [query.notices_of_filters(found=found) for group in groups for query in group]
    if all(of_filters) or found:
        messages += [notice for notices in of_filters for notice in notices]
    if len(groups) > 1:
        names = "; ".join(", ".join(query.vault.name for query in group) for group in groups)
        messages.append(f"the vaults use different models ({names}): their notes are mixed by relevance")
    return tuple(dict.fromkeys(messages))
