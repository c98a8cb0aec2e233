"""Searches one or more vaults and returns one ranking, as if all notes were in one vault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from vault_indexer.config.settings import SearchSettings
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.errors import QueryError
from vault_indexer.model import (
    Correction,
    Expand,
    Hit,
    SearchRequest,
    Verdict,
    Why,
    count_in_notes,
    note_id_of,
)
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.confidence import count_likely, relevance_of, verdict_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.filters import text_pattern
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.present import Expansion, HitBuilder, RankedChunk, Snippets
from vault_indexer.search.query import ranking_words
from vault_indexer.search.question import missing_words
from vault_indexer.search.rank import (
    LISTED,
    Candidates,
    Copies,
    find_copies,
    list_by_time,
    match_titles,
    rank,
    reasons_of,
)
from vault_indexer.store.catalog import fold_path
from vault_indexer.system import record

_WHOLE = 0.999
"""From this coverage a note contains all words of the query: a coverage is a sum of rounded shares."""

_WEIGHED = 4
"""With vaults of different models, the relevance is computed for this multiple of the limit, because some
candidates are copies or exceed the limit per note. A rule of thumb."""

_UNFINISHED = ' "()'
"""A query of these characters alone searches for nothing, which needs no notice while the user types."""

_LAST_TERM = re.compile(r"-?(?:[a-z-]+:)?(?:\S*|[\"(\[][\s\S]*)")

_Group = Sequence[PreparedQuery]
"""The query for each vault of one model. The scores of their chunks are comparable."""


@record
class SearchResult:
    """The hits, best first, with scores in [0, 1] and 1 for the best, and the notices for the user."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()
    likely: int = 0


@record
class AnswerLimits:
    """The limits of the results: at most `notes` notes, at most `per_note` hits of each note, and no hit with
    a relevance below `least`. `by_note` ranks whole notes."""

    notes: int
    per_note: int
    least: float
    by_note: bool

    @classmethod
    def of(cls, request: SearchRequest, settings: SearchSettings) -> AnswerLimits:
        return cls(
            (request.limit or settings.limit) if request.offset is None else MAX_LIMIT,
            1 if request.by_note else settings.max_chunks_per_note,
            settings.min_relevance if request.min_relevance is None else request.min_relevance,
            request.by_note,
        )


@record
class RankedGroup:
    """The query for the vaults of one model, their ranked candidates, and the copies among these."""

    queries: _Group
    table: Candidates
    copies: Copies

    @classmethod
    def of(cls, queries: _Group, settings: SearchSettings, limits: AnswerLimits) -> RankedGroup:
        table = rank(queries, settings, by_note=limits.by_note, limit=limits.notes)
        return cls(queries, table, find_copies(queries, table))

    def relevance(self, rows: Sequence[int]) -> dict[int, float]:
        vaults = self.table.vault.tolist()
        relevance: dict[int, float] = {}
        for number, query in enumerate(self.queries):
            relevance |= relevance_of(query, self.table, [row for row in rows if vaults[row] == number])
        return relevance


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
    invalid query. While the user types, a query may merely be unfinished: the result is then that of the
    finished terms before the end, and has the error as a notice.
    """
    try:
        synonyms = settings.synonyms.groups
        groups = [
            prepare_query(group, request, deadline, synonyms, [one for one in vaults if one not in group])
            for group in _by_model(vaults)
        ]
    except QueryError as error:
        if not request.as_you_type:
            raise
        notices = (str(error),) if request.query.strip(_UNFINISHED) else ()
        finished = _finished_terms(request.query, error.column)
        if not finished:
            return SearchResult((), notices)
        found = search_vaults(vaults, request._replace(query=finished), settings, deadline)
        return replace(found, notices=(*notices, *found.notices))
    # All groups have the same query text.
    is_list = not groups[0][0].text
    result = _list_newest(groups, request, settings) if is_list else _search(groups, request, settings)
    if request.offset is None:
        return result
    return _page(result, request.offset, request.limit or settings.limit)


def _finished_terms(query: str, column: int) -> str:
    """Returns the query without its last term if the error at the column is in that term, otherwise "". A
    term with an open quote, bracket or parenthesis includes all that follows."""
    finished, _, last = query[: column - 1].rpartition(" ")
    if not _LAST_TERM.fullmatch(last + query[column - 1 :]):
        return ""
    # Without the last term, a parenthesis, a minus sign or an OR before it would be unfinished.
    while (shorter := finished.rstrip(" (-").removesuffix(" OR")) != finished:
        finished = shorter
    return f"{finished} " if finished else ""


def _by_model(vaults: Sequence[SearchedVault]) -> list[list[SearchedVault]]:
    """Groups the vaults whose models have comparable cosines. The token weights of the models may differ."""
    groups: dict[tuple[str, str, int], list[SearchedVault]] = {}
    for vault in vaults:
        model = vault.embedder.model
        family = model.provider, model.name.partition("+")[0], model.dimension
        groups.setdefault(family, []).append(vault)
    return list(groups.values())


def _search(groups: Sequence[_Group], request: SearchRequest, settings: SearchSettings) -> SearchResult:
    presenter = _Presenter(request, settings)
    limits = presenter.limits
    ranked = [RankedGroup.of(group, settings, limits) for group in groups]
    places = shown_places(ranked, limits)
    top = places[0].score if places else 0.0
    shown = [place._replace(score=place.score / top if top else 1.0) for place in places]
    relevance: dict[Place, float] = {}
    hits: dict[Place, Hit] = {}
    files: list[Hit] = []
    for number, group in enumerate(ranked):
        own = {place.row: place for place in shown if place.group == number}
        of_rows = group.relevance(list(own))
        relevance |= {own[row]: value for row, value in of_rows.items()}
        hits_of_rows, attachments = presenter.hits(group, own, of_rows)
        hits |= {own[row]: hit for row, hit in hits_of_rows.items()}
        files += attachments
    all_hits = _first_notes(_with_files([hits[place] for place in shown if place in hits], files), limits)
    verdict = verdict_of(relevance[place] for place in shown)
    # A file whose name matches the query is a certain hit, whatever the notes behind it.
    if all_hits and all_hits[0] in files:
        verdict = "strong"
    unread = [fold_path(hit.title) for hit in files if hit.snippet]  # notes that could not be read
    # The vaults of a group share their words.
    unknown, *others = map(missing_words, groups)
    missing = [
        word
        for word in unknown
        if all(word in other for other in others) and not any(fold_path(word) in name for name in unread)
    ]
    return SearchResult(
        all_hits,
        _notices(groups, found=bool(shown or files)),
        groups[0][0].corrections,
        verdict,
        tuple(missing),
        count_likely([hit.relevance for hit in all_hits], verdict),
    )


def _page(result: SearchResult, offset: int, limit: int) -> SearchResult:
    """Returns the hits of at most `limit` notes after the first `offset` notes. The whole result ranks the
    same number of candidates for every page, so no note is on two pages or on none."""
    notes = [(hit.vault, hit.path) for hit in result.hits]
    first, end = count_in_notes(notes, offset), count_in_notes(notes, offset + limit)
    likely = min(max(0, result.likely - first), end - first)
    return replace(result, hits=result.hits[first:end], likely=likely)


def _first_notes(hits: Sequence[Hit], limits: AnswerLimits) -> tuple[Hit, ...]:
    return tuple(hits[: count_in_notes(((hit.vault, hit.path) for hit in hits), limits.notes)])


def shown_places(groups: Sequence[RankedGroup], limits: AnswerLimits) -> list[Place]:
    """Returns the candidates that the results show, best first, without copies and within `limits`."""
    notes = [group.table.note.tolist() for group in groups]
    shown: list[Place] = []
    counts: dict[tuple[int, int], int] = {}
    for place in _merged(groups, _WEIGHED * limits.notes):
        note = notes[place.group][place.row]
        if note in groups[place.group].copies.shown_note:
            continue
        count = counts.get((place.group, note), 0)
        # A further chunk of a note that is already shown needs no place of its own.
        if not count and len(counts) == limits.notes:
            break
        counts[place.group, note] = count + 1
        if not limits.per_note or count < limits.per_note:  # 0: no limit
            shown.append(place)
    return shown


def _merged(groups: Sequence[RankedGroup], weighed: int) -> list[Place]:
    """Returns the candidates of all groups, best first: by score for one group, by relevance for several.

    Relevance is comparable between models, scores are not. The order within each group stays, because the
    value of a row never exceeds that of the rows before it. After the first `weighed` rows of each group,
    ranks decide.
    """
    if len(groups) == 1:
        scores = groups[0].table.normalized_scores().tolist()
        return [Place(score, 0, row) for row, score in enumerate(scores)]
    places = []
    for number, group in enumerate(groups):
        size = len(group.table)
        rows = list(range(min(weighed, size)))
        relevance = group.relevance(rows)
        # `min` keeps the order within a group, even where the relevance of a later row is higher.
        values = [*accumulate((relevance[row] for row in rows), min), *([0.0] * (size - len(rows)))]
        places += [Place(value, number, row) for row, value in enumerate(values)]
    # By row before group: where only ranks decide, the groups take turns.
    return sorted(places, key=lambda place: (-place.score, place.row, place.group))


class _Presenter:
    """Builds the hits of one search, vault by vault."""

    def __init__(self, request: SearchRequest, settings: SearchSettings) -> None:
        self._request = request
        self._settings = settings
        self.limits = AnswerLimits.of(request, settings)

    def hits(
        self, group: RankedGroup, shown: Mapping[int, Place], relevance: Mapping[int, float]
    ) -> tuple[dict[int, Hit], list[Hit]]:
        """Returns the hits of the rows that are relevant enough, by row, and the matching attachments."""
        table, copies = group.table, group.copies.paths
        vaults, keys, notes = table.vault.tolist(), table.local_key.tolist(), table.note.tolist()
        hits: dict[int, Hit] = {}
        files: list[Hit] = []
        for number, query in enumerate(group.queries):
            kept = [row for row in shown if vaults[row] == number and relevance[row] >= self.limits.least]
            reasons = reasons_of(query, table, kept, by_field=self._request.by_field)
            builder = self._builder(query, self._request.expand)
            of_vault = builder.build(
                RankedChunk(
                    keys[row], shown[row].score, reasons[row], relevance[row], copies.get(notes[row], ())
                )
                for row in kept
            )
            hits |= {row: of_vault[keys[row]] for row in kept if keys[row] in of_vault}
            files += self._files(query, builder)
        return hits, files

    def newest(self, query: PreparedQuery) -> tuple[Hit, ...]:
        """Returns the hits of one vault that meet the filters: notes named like the filters (`🐘`), the most
        recently changed notes, and the attachments."""
        assert query.chosen is not None
        named = match_titles(query.snapshot, " ".join(query.filters))
        shown = list_by_time(query.snapshot, query.chosen, self.limits.notes, self.limits.per_note, named)
        builder = self._builder(query, "")
        notes = builder.build(
            RankedChunk(key, 1.0, _unranked_reason(query, title=float(note_id_of(key) in named)), 1.0)
            for key in shown
        )
        return (*notes.values(), *self._files(query, builder))

    def _builder(self, query: PreparedQuery, expand: Expand) -> HitBuilder:
        settings = self._settings
        words = {term.word: term.compounds for term in query.terms}
        texts = dict.fromkeys(text for part in query.conditions for text in ranking_words(part.node))
        phrases = [text_pattern(text) for text in texts]
        snippets = Snippets(words, settings.snippet_chars, query.language, phrases)
        expansion = None
        if expand:
            expansion = Expansion(expand, settings.max_parent_tokens, settings.window_paragraphs)
        return HitBuilder(query, snippets, expansion=expansion, stale=self._request.stale)

    def _files(self, query: PreparedQuery, builder: HitBuilder) -> tuple[Hit, ...]:
        paths = match_attachments(query, name_query(query, datetime.now().astimezone()), self.limits.notes)
        return builder.of_files(paths, 1.0, _unranked_reason(query)) if paths else ()


def _unranked_reason(query: PreparedQuery, title: float = 0.0) -> Why:
    return Why(None, None, None, recency=1.0, filters=query.filters, title=title)


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
    """Returns the results of a query of filters only: no words rank, so the last changed come first."""
    presenter = _Presenter(request, settings)
    hits = [hit for group in groups for query in group for hit in presenter.newest(query)]
    # A note whose name is the query has a title score, so it comes before newer notes.
    newest_first = sorted(hits, key=lambda hit: (hit.why.title, hit.modified_time), reverse=True)
    newest = _first_notes(newest_first, presenter.limits)
    notices = _notices(groups, found=bool(newest))
    if not newest:
        return SearchResult((), notices)
    return SearchResult(newest, (*notices, LISTED), verdict="strong", likely=len(newest))


def _notices(groups: Sequence[_Group], *, found: bool) -> tuple[str, ...]:
    """Returns the notices, each once; without hits, those about filters only if every vault has one."""
    notices = [notice for group in groups for query in group for notice in query.notices]
    of_filters = [query.notices_of_filters(found=found) for group in groups for query in group]
    if all(of_filters) or found:
        notices += [notice for own in of_filters for notice in own]
    if len(groups) > 1:
        names = "; ".join(", ".join(query.vault.name for query in group) for group in groups)
        notices.append(f"the vaults use different models ({names}): the order across them is less certain")
    return tuple(dict.fromkeys(notices))
