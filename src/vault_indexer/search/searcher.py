"""One search over one snapshot: prepare the query, rank the chunks, build the hits, or explain a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import QueryError
from vault_indexer.model import Correction, Explanation, Hit, NoteRow, SearchRequest, Verdict, Why, note_id_of
from vault_indexer.ports import Embedder
from vault_indexer.search.attachments import match_attachments, name_query
from vault_indexer.search.confidence import relevance_of, verdict_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.explain import (
    Place,
    absence_reasons,
    attachment_reasons,
    explanation,
    filter_reasons,
    place_reasons,
)
from vault_indexer.search.prepare import PreparedQuery, prepare_query
from vault_indexer.search.present import ExpandMode, Expansion, HitBuilder, RankedChunk, Snippets
from vault_indexer.search.question import missing_words
from vault_indexer.search.rank import LISTED, Ranked, list_by_time, rank, reasons_of, relative
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights

_WHOLE = 0.999
"""From this coverage on a note holds all words of the query; it is a sum of shares."""

UNFINISHED = ' "()'
"""A query of these characters alone looks for nothing: while the user types, that needs no notice."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, scores in [0, 1] with the best at 1, and what the user should know of them."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict = "none"
    missing_words: tuple[str, ...] = ()


class Searcher:
    """Answers queries with one embedding model and one set of search settings.

    It prepares the query, ranks the chunks and builds the hits; the packages `terms`, `filters`, `rank` and
    `present` do the work. The `IndexReader` of a generation owns it and replaces it when the settings change.
    It keeps no state between searches, so any thread may call any method. The caller leases the snapshot and
    holds it until the call returns: an answer comes from that snapshot alone.
    """

    def __init__(self, embedder: Embedder, settings: SearchSettings) -> None:
        self._embedder = embedder
        self._settings = settings
        self.fields = FieldWeights()

    def with_settings(self, settings: SearchSettings) -> Searcher:
        """A searcher with the same model and other settings."""
        return Searcher(self._embedder, settings)

    @property
    def embedder(self) -> Embedder:
        """The model of the index."""
        return self._embedder

    @property
    def settings(self) -> SearchSettings:
        """How it ranks and shows."""
        return self._settings

    @property
    def deadline_s(self) -> float:
        """The configured time for one query, in seconds."""
        return self._settings.deadline_s

    def search(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
        *,
        vault: Path | None = None,
    ) -> SearchResult:
        """The best chunks (by note: the best notes, each by its best chunk).

        With `vault`, each hit says how to open it, and if asked whether its file has changed since it was
        indexed.
        Without `deadline`, the configured one holds. Raises QueryTimeoutError or QueryCancelledError when it
        ends the query. Raises QueryError for a wrong query; while the user types, a query may only be
        unfinished, so the answer is empty then and has the error as a notice.
        """
        try:
            prepared = self._prepare(snapshot, request, deadline)
        except QueryError as error:
            if not request.as_you_type:
                raise
            return SearchResult((), (str(error),) if request.query.strip(UNFINISHED) else ())
        if not prepared.text:
            return self.list_newest(snapshot, prepared, request, vault)
        ranked = self._rank(snapshot, prepared, request)
        shown = self._shown(ranked, request)
        relevance = self.relevance(snapshot, prepared, ranked, shown)
        verdict = verdict_of(relevance.values())
        least = self.least(request)
        shown = [key for key in shown if relevance[key] >= least]
        reasons = reasons_of(snapshot, prepared, ranked, shown, self.fields, by_field=request.by_field)
        builder = self.builder(snapshot, prepared, request, vault)
        hits = builder.build(
            RankedChunk(key, relative(ranked, key), reasons[key], relevance[key]) for key in shown
        )
        files = self.files(snapshot, prepared, request, builder)
        all_hits = with_files(hits, files)[: self.limit(request)]
        notices = (*prepared.notices, *prepared.notices_of_filters(found=bool(relevance or files)))
        if all_hits and all_hits[0] in files:
            verdict = "strong"
        missing = missing_words(snapshot, prepared, self.fields)
        return SearchResult(all_hits, notices, prepared.corrections, verdict, missing)

    def explain(
        self,
        snapshot: Snapshot,
        note: NoteRow,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
    ) -> Explanation:
        """Where the note is in the answer to the request, and why, or why not. Raises as `search` does."""
        prepared = self._prepare(snapshot, request, deadline)
        reasons = list(filter_reasons(snapshot, prepared, note, datetime.now().astimezone()))
        if not prepared.text:
            own = snapshot.catalog.chunks_of(note.note_id)
            matches = bool(prepared.passing(np.array([row.key for row in own], np.int64)).any())
            return explanation(request.query, note, Place(None, 0, matches, None), reasons)
        ranked = self._rank(snapshot, prepared, request)
        place, key = self._place(snapshot, prepared, ranked, note, request)
        if key is None:
            reasons += absence_reasons(snapshot, prepared, ranked, self.fields, note)
        else:
            reasons += place_reasons(place, self.limit(request))
        relevance = None if key is None else self.relevance(snapshot, prepared, ranked, [key])[key]
        return replace(explanation(request.query, note, place, reasons), relevance=relevance)

    def explain_attachment(
        self,
        snapshot: Snapshot,
        path: str,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
    ) -> Explanation:
        """Whether an attachment is in the answer, and why or why not. Raises as `search` does."""
        prepared = self._prepare(snapshot, request, deadline)
        hits = self.search(snapshot, request, prepared.deadline).hits
        own = next((hit for hit in hits if hit.path == path), None)
        reasons = attachment_reasons(snapshot, prepared, path, shown=own is not None)
        return Explanation(
            request.query, path, None, own is not None, own.why if own else None, tuple(reasons)
        )

    def _place(
        self,
        snapshot: Snapshot,
        prepared: PreparedQuery,
        ranked: Ranked,
        note: NoteRow,
        request: SearchRequest,
    ) -> tuple[Place, int | None]:
        own = [at for at, key in enumerate(ranked.order) if note_id_of(key) == note.note_id]
        if not own:
            return Place(None, len(ranked.order), False, None), None
        key = ranked.order[own[0]]
        why = reasons_of(snapshot, prepared, ranked, [key], self.fields)[key]
        return Place(own[0] + 1, len(ranked.order), key in self._shown(ranked, request), why), key

    def builder(
        self, snapshot: Snapshot, prepared: PreparedQuery, request: SearchRequest, vault: Path | None
    ) -> HitBuilder:
        """What makes hits of ranked chunks."""
        words = {term.word: term.compounds for term in prepared.terms}
        snippets = Snippets(words, self._settings.snippet_chars, prepared.language)
        expansion = self._expansion(request.expand) if request.expand else None
        return HitBuilder(
            snapshot.catalog,
            snippets,
            prepared.deadline,
            vault=vault,
            expansion=expansion,
            stale=request.stale,
        )

    def list_newest(
        self, snapshot: Snapshot, prepared: PreparedQuery, request: SearchRequest, vault: Path | None
    ) -> SearchResult:
        """The answer to a query of filters alone: nothing ranks, so the notes changed last come first."""
        assert prepared.chosen is not None
        shown = list_by_time(snapshot, prepared.chosen, self.limit(request), self.per_note(request))
        why = Why(None, None, None, recency=1.0, filters=prepared.filters)
        snippets = Snippets({}, self._settings.snippet_chars)
        builder = HitBuilder(snapshot.catalog, snippets, prepared.deadline, vault=vault, stale=request.stale)
        notes = builder.build(RankedChunk(key, 1.0, why, 1.0) for key in shown)
        files = self.files(snapshot, prepared, request, builder)
        newest_first = sorted((*notes, *files), key=lambda hit: hit.modified_time, reverse=True)
        hits = tuple(newest_first if files else notes)[: self.limit(request)]
        notices = (*prepared.notices, *prepared.notices_of_filters(found=bool(hits)))
        return SearchResult(hits, (*notices, LISTED), verdict="strong") if hits else SearchResult((), notices)

    def files(
        self, snapshot: Snapshot, prepared: PreparedQuery, request: SearchRequest, builder: HitBuilder
    ) -> tuple[Hit, ...]:
        """The attachments that answer the query by their names."""
        wanted = name_query(prepared, datetime.now().astimezone())
        paths = match_attachments(snapshot, prepared, wanted, self.limit(request))
        why = Why(None, None, None, recency=1.0, filters=prepared.filters)
        return builder.of_files(paths, 1.0, why) if paths else ()

    def _prepare(
        self, snapshot: Snapshot, request: SearchRequest, deadline: QueryDeadline | None
    ) -> PreparedQuery:
        now = datetime.now().astimezone()
        deadline = deadline or QueryDeadline(self.deadline_s)
        return prepare_query(snapshot, request, self._embedder, self.fields, now, deadline)

    def _rank(self, snapshot: Snapshot, prepared: PreparedQuery, request: SearchRequest) -> Ranked:
        return rank(
            snapshot,
            prepared,
            self._settings,
            self.fields,
            by_note=request.by_note,
            limit=self.limit(request),
        )

    def _shown(self, ranked: Ranked, request: SearchRequest) -> list[int]:
        """The keys that the answer shows, best first."""
        return list(islice(at_most_per_note(ranked.order, self.per_note(request)), self.limit(request)))

    def relevance(
        self, snapshot: Snapshot, prepared: PreparedQuery, ranked: Ranked, keys: list[int]
    ) -> dict[int, float]:
        """The relevance of ranked chunks, in the order of the keys."""
        provider = self._embedder.model.provider
        return relevance_of(snapshot, prepared, keys, ranked, self.fields, provider)

    def least(self, request: SearchRequest) -> float:
        """The relevance that hits have at least."""
        return self._settings.min_relevance if request.min_relevance is None else request.min_relevance

    def _expansion(self, mode: ExpandMode) -> Expansion:
        return Expansion(mode, self._settings.max_parent_tokens, self._settings.window_paragraphs)

    def limit(self, request: SearchRequest) -> int:
        """So many hits at most."""
        return request.limit or self._settings.limit

    def per_note(self, request: SearchRequest) -> int:
        """So many hits of one note at most."""
        return 1 if request.by_note else self._settings.max_chunks_per_note


def with_files(hits: Sequence[Hit], files: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits with the attachments behind the last note that holds all words of the query, as they do: each
    has the score of the hit before it."""
    if not files:
        return tuple(hits)
    whole = [at for at, hit in enumerate(hits, start=1) if hit.why.note and hit.why.note.coverage > _WHOLE]
    at = whole[-1] if whole else 0
    score = hits[at - 1].score if at else 1.0
    return (*hits[:at], *(replace(file, score=score) for file in files), *hits[at:])


def at_most_per_note(order: Iterable[int], most: int) -> Iterator[int]:
    """The keys in order, at most so many of one note."""
    held: dict[int, int] = {}
    for key in order:
        note_id = note_id_of(key)
        held[note_id] = held.get(note_id, 0) + 1
        if held[note_id] <= most:
            yield key
