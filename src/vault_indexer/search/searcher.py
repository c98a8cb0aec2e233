"""One search over one snapshot: parse, filter, rank, limit, tell why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.errors import QueryError
from vault_indexer.model import (
    ChunkRow,
    Explanation,
    Hit,
    KeywordReason,
    NoteRow,
    SearchRequest,
    VectorReason,
    Why,
    note_id_of,
)
from vault_indexer.ports import Embedder
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.explain import (
    Place,
    absence_reasons,
    explanation,
    filter_reasons,
    place_reasons,
)
from vault_indexer.search.prepare import PreparedQuery, prepare_query
from vault_indexer.search.present import ExpandMode, Expansion, Snippets, hit_of, passage_of
from vault_indexer.search.rank import LISTED, Ranked, keyword_reasons, list_by_time, rank, relative
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import FieldWeights

_UNFINISHED = ' "()'
"""A query of these alone looks for nothing: while the user types, that needs no notice."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, scores in [0, 1] with the best at 1, and what the user should know of them."""

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()


class Searcher:
    """Answers queries by one configuration and one model. Holds no state between searches."""

    def __init__(self, embedder: Embedder, settings: SearchSettings) -> None:
        self._embedder = embedder
        self._settings = settings
        self.fields = FieldWeights()

    def with_settings(self, settings: SearchSettings) -> Searcher:
        """The same model, other settings."""
        return Searcher(self._embedder, settings)

    @property
    def deadline_s(self) -> float:
        """The configured time for one query, in seconds."""
        return self._settings.deadline_s

    def search(
        self, snapshot: Snapshot, request: SearchRequest, deadline: QueryDeadline | None = None
    ) -> SearchResult:
        """The best chunks (by note: the best notes, each by its best chunk).

        Raises QueryError for a query that is wrong; while the user types it may only be unfinished, so then
        the answer is empty, with the error as a notice. Raises QueryTimeoutError or QueryCancelledError at
        the deadline, which is the configured one if none is given.
        """
        try:
            question = self._asked(snapshot, request, deadline)
        except QueryError as error:
            if not request.as_you_type:
                raise
            return SearchResult((), (str(error),) if request.query.strip(_UNFINISHED) else ())
        if not question.text:
            return self._listed(snapshot, question, request)
        ranked = self._ranked(snapshot, question, request)
        shown = list(islice(_limited(ranked.order, self._per_note(request)), self._limit(request)))
        words = keyword_reasons(snapshot, ranked.rankings.keyword, shown, question.terms, self.fields)
        rows = snapshot.catalog.chunks(shown)
        notes = snapshot.catalog.notes({row.note_id for row in rows.values()})
        snippets = Snippets((term.word for term in question.terms), self._settings.snippet_chars)
        expansion = self._expansion(request.expand) if request.expand else None
        found = []
        for key in shown:
            question.deadline.check()
            if key in rows:
                why = _why(key, question, ranked, words)
                hit = _hit(notes, rows[key], relative(ranked, key), why, snippets)
                passage = passage_of(snapshot.catalog, rows[key], expansion) if expansion else None
                found.append(replace(hit, passage=passage) if passage else hit)
        return SearchResult(
            tuple(found), (*question.notices, *question.notices_of_filters(found=bool(found)))
        )

    def explain(
        self,
        snapshot: Snapshot,
        note: NoteRow,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
    ) -> Explanation:
        """Where the note is in the answer to the request, and why, or why not. Raises as `search` does."""
        question = self._asked(snapshot, request, deadline)
        reasons = list(filter_reasons(snapshot, question, note, datetime.now().astimezone()))
        if not question.text:
            own = snapshot.catalog.chunks_of(note.note_id)
            matches = bool(question.passing(np.array([row.key for row in own], np.int64)).any())
            return explanation(request.query, note, Place(None, 0, matches, None), reasons)
        ranked = self._ranked(snapshot, question, request)
        place, key = self._place(snapshot, question, ranked, note, request)
        if key is None:
            reasons += absence_reasons(snapshot, question, ranked, self.fields, note)
        else:
            reasons += place_reasons(place, self._limit(request), ranked, key)
        return explanation(request.query, note, place, reasons)

    def _place(
        self,
        snapshot: Snapshot,
        question: PreparedQuery,
        ranked: Ranked,
        note: NoteRow,
        request: SearchRequest,
    ) -> tuple[Place, int | None]:
        own = [at for at, key in enumerate(ranked.order) if note_id_of(key) == note.note_id]
        if not own:
            return Place(None, len(ranked.order), False, None), None
        key = ranked.order[own[0]]
        shown = islice(_limited(ranked.order, self._per_note(request)), self._limit(request))
        words = keyword_reasons(snapshot, ranked.rankings.keyword, [key], question.terms, self.fields)
        why = _why(key, question, ranked, words)
        return Place(own[0] + 1, len(ranked.order), key in set(shown), why), key

    def _listed(self, snapshot: Snapshot, question: PreparedQuery, request: SearchRequest) -> SearchResult:
        assert question.chosen is not None
        shown = list_by_time(snapshot, question.chosen, self._limit(request), self._per_note(request))
        rows = snapshot.catalog.chunks(shown)
        notes = snapshot.catalog.notes({row.note_id for row in rows.values()})
        why = Why(None, None, None, recency=1.0, filters=question.filters)
        snippets = Snippets((), self._settings.snippet_chars)
        hits = tuple(
            _hit(notes, row, 1.0, why, snippets)
            for row in (rows[key] for key in shown if key in rows)
            if row.note_id in notes
        )
        told = question.notices_of_filters(found=bool(hits))
        return SearchResult(hits, (*question.notices, *told, *((LISTED,) if hits else ())))

    def _asked(
        self, snapshot: Snapshot, request: SearchRequest, deadline: QueryDeadline | None
    ) -> PreparedQuery:
        now = datetime.now().astimezone()
        deadline = deadline or QueryDeadline(self.deadline_s)
        return prepare_query(snapshot, request, self._embedder, self.fields, now, deadline)

    def _ranked(self, snapshot: Snapshot, question: PreparedQuery, request: SearchRequest) -> Ranked:
        return rank(
            snapshot,
            question,
            self._settings,
            self.fields,
            by_note=request.by_note,
            limit=self._limit(request),
        )

    def _expansion(self, mode: ExpandMode) -> Expansion:
        return Expansion(mode, self._settings.max_parent_tokens, self._settings.window_paragraphs)

    def _limit(self, request: SearchRequest) -> int:
        return request.limit or self._settings.limit

    def _per_note(self, request: SearchRequest) -> int:
        return 1 if request.by_note else self._settings.max_chunks_per_note


def _hit(notes: Mapping[int, NoteRow], row: ChunkRow, score: float, why: Why, snippets: Snippets) -> Hit:
    matched = why.keyword.terms if why.keyword else {}
    return hit_of(notes[row.note_id], row, score, why, snippets.of(row.chunk.body, matched))


def _why(key: int, question: PreparedQuery, ranked: Ranked, words: Mapping[int, KeywordReason]) -> Why:
    meaning = ranked.rankings.vector.get(key)
    return Why(
        vector=VectorReason(*meaning) if meaning else None,
        keyword=words.get(key),
        graph=ranked.rankings.graph.get(key),
        recency=ranked.recency[key],
        fused=ranked.fused[key],
        title=ranked.titles.get(key, 0.0),
        filters=question.filters,
    )


def _limited(order: Iterable[int], per_note: int) -> Iterator[int]:
    """The keys in order, with at most `per_note` of one note."""
    held: dict[int, int] = {}
    for key in order:
        note_id = note_id_of(key)
        held[note_id] = held.get(note_id, 0) + 1
        if held[note_id] <= per_note:
            yield key
