"""Searches one snapshot and explains ranks in its results, with one model and one set of settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import Explanation, NoteRow, SearchRequest
from vault_indexer.ports import Embedder
from vault_indexer.search.confidence import count_likely, verdict_of
from vault_indexer.search.deadline import QueryDeadline
from vault_indexer.search.explain import (
    ChunkRank,
    absence_reasons,
    attachment_reasons,
    explanation,
    filter_reasons,
    place_reasons,
)
from vault_indexer.search.multi_vault import (
    AnswerLimits,
    RankedGroup,
    SearchResult,
    search_vaults,
    shown_places,
)
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.rank import reasons_of
from vault_indexer.store import Snapshot, SnapshotHolder


class Searcher:
    """Answers queries to one vault with one embedding model and one set of search settings.

    The `IndexReader` of a generation owns it and replaces it when the settings change. It has no state
    between searches, so any thread may call any method. The caller leases the snapshot until the call
    returns. All results come from that snapshot.
    """

    def __init__(self, embedder: Embedder, settings: SearchSettings) -> None:
        self._embedder = embedder
        self._settings = settings

    def with_settings(self, settings: SearchSettings) -> Searcher:
        return Searcher(self._embedder, settings)

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    @property
    def settings(self) -> SearchSettings:
        return self._settings

    @property
    def deadline_s(self) -> float:
        """The configured time limit of a query, in seconds."""
        return self._settings.deadline_s

    def search(
        self,
        snapshot: Snapshot,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
        *,
        vault: Path | None = None,
    ) -> SearchResult:
        """Returns the best chunks, or with `by_note` the best notes, each with its best chunk.

        With `vault`, each hit has a URI that opens it, and on request a flag for a file that has changed
        since it was indexed. The default of `deadline` is the configured one. Raises as `search_vaults`.
        """
        deadline = deadline or QueryDeadline(self.deadline_s)
        only = SearchedVault("", vault, snapshot, self._embedder)
        return search_vaults([only], request, self._settings, deadline)

    def explain(
        self,
        snapshot: Snapshot,
        note: NoteRow,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
    ) -> Explanation:
        """Returns the rank of the note in the results with its reasons, or the reasons for its absence.
        Raises as `search` does."""
        prepared = self._prepare(snapshot, request, deadline)
        reasons = list(filter_reasons(prepared, note))
        if not prepared.text:
            own = snapshot.catalog.chunks_of(note.note_id)
            matches = bool(prepared.passing(np.array([row.key for row in own], np.int64)).any())
            return explanation(request.query, note, ChunkRank(None, 0, matches, None), reasons)
        limits = AnswerLimits.of(request, self._settings)
        ranked = RankedGroup.of([prepared], self._settings, limits)
        place, row = _rank_of(ranked, note, limits)
        if row is None:
            reasons += absence_reasons(prepared, ranked.table, note)
        elif (shown_note := ranked.copies.shown_note.get(note.note_id)) is not None:
            path = snapshot.catalog.notes([shown_note])[shown_note].path
            reasons.append(f"it has the same text as {path}, and is shown with it")
        else:
            reasons += place_reasons(place, limits.notes)
        relevance = None if row is None else ranked.relevance([row])[row]
        return replace(explanation(request.query, note, place, reasons), relevance=relevance)

    def explain_attachment(
        self,
        snapshot: Snapshot,
        path: str,
        request: SearchRequest,
        deadline: QueryDeadline | None = None,
    ) -> Explanation:
        """Returns whether the results include an attachment, and why or why not. Raises as `search` does."""
        prepared = self._prepare(snapshot, request, deadline)
        hits = self.search(snapshot, request, prepared.deadline).hits
        own = next((hit for hit in hits if hit.path == path), None)
        reasons = attachment_reasons(prepared, path, shown=own is not None)
        return Explanation(
            query=request.query,
            path=path,
            rank=None,
            shown=own is not None,
            why=own.why if own else None,
            reasons=tuple(reasons),
        )

    def _prepare(
        self, snapshot: Snapshot, request: SearchRequest, deadline: QueryDeadline | None
    ) -> PreparedQuery:
        deadline = deadline or QueryDeadline(self.deadline_s)
        only = [SearchedVault("", None, snapshot, self._embedder)]
        return prepare_query(only, request, deadline, self._settings.synonyms.groups)[0]


def _rank_of(ranked: RankedGroup, note: NoteRow, limits: AnswerLimits) -> tuple[ChunkRank, int | None]:
    """Returns the rank of the note's best chunk, and its row (None if the note is not a candidate)."""
    table, (query,) = ranked.table, ranked.queries
    own = np.flatnonzero(table.note == note.note_id)
    if not len(own):
        return ChunkRank(None, len(table), False, None), None
    row = int(own[0])
    why = reasons_of(query, table, [row])[row]
    shown = [place.row for place in shown_places([ranked], limits)]
    relevance = list(ranked.relevance(shown).values())
    likely = shown[: count_likely(relevance, verdict_of(relevance))]
    notes = len(set(table.note[: row + 1].tolist()) - set(ranked.copies.shown_note))
    return ChunkRank(row + 1, len(table), row in shown, why, notes, row in likely), row


# The snapshots of one generation, with the searcher for its model.


@dataclass(frozen=True, slots=True)
class IndexReader:
    """The parts that a search of one generation requires. `model` is the catalog's key for its vectors."""

    holder: SnapshotHolder
    searcher: Searcher
    model: str
