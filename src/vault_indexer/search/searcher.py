"""Searches one snapshot and explains ranks in its results, with one model and one set of settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.model import Explanation, NoteRow, SearchRequest, Why
from vault_indexer.ports import Embedder
from vault_indexer.search.attachments import name_query
from vault_indexer.search.confidence import count_likely, verdict_of
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.filters import Evaluation, at_level
from vault_indexer.search.multi_vault import (
    AnswerLimits,
    RankedGroup,
    SearchResult,
    search_vaults,
    shown_places,
)
from vault_indexer.search.prepare import PreparedQuery, SearchedVault, prepare_query
from vault_indexer.search.query import Node, level_of
from vault_indexer.search.rank import Candidates, reasons_of
from vault_indexer.store import Snapshot, SnapshotHolder
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.system import record
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.arrays import Keys

# Explains the rank of a note in the results, or its absence.


@record
class ChunkRank:
    """The rank of the note's best chunk among all candidates (None if it is not a candidate), the number of
    candidates, whether the results include the chunk, and why. `notes` is the number of notes up to and
    including this one. `is_likely` is true if the chunk is among the likely hits."""

    rank: int | None
    candidates: int
    shown: bool
    why: Why | None
    notes: int = 0
    is_likely: bool = True


def filter_reasons(prepared: PreparedQuery, note: NoteRow) -> Iterator[str]:
    """Yields one sentence for each filter that the note does not match, or one sentence if it matches all."""
    only = frozenset({note.note_id})
    now = datetime.now().astimezone()
    evaluation = Evaluation(prepared.snapshot, now, prepared.deadline, ReadingBudget(), only)

    def holds(node: Node) -> bool:
        if level := level_of(node):
            return bool(at_level(prepared.snapshot.catalog, _chunk_keys(prepared, note), level).any())
        return bool(evaluation.check(node, only)[0].notes)

    failed = [condition.source for condition in prepared.conditions if not holds(condition.node)]
    yield from (f"it does not match the filter {source}" for source in failed)
    if prepared.conditions and not failed:
        yield f"it matches the filter {' '.join(prepared.filters)}"


def place_reasons(place: ChunkRank, limit: int) -> Iterator[str]:
    """Yields why the results omit a ranked note, or show it only after the likely hits."""
    if not place.shown:
        more = f": ask for {place.notes} or more (-n {place.notes})" if place.notes <= MAX_LIMIT else ""
        yield f"the list ends after {quantity(limit, 'note')}{more}"
    elif not place.is_likely:
        yield "it is not among the likely hits: --nearest shows all"


def absence_reasons(prepared: PreparedQuery, table: Candidates, note: NoteRow) -> Iterator[str]:
    """Yields why a note is not a candidate: its rank in the fusion, or its distance from each ranking."""
    snapshot = prepared.snapshot
    own = _passing_chunks(prepared, note)
    if not len(own):
        yield "no part of it matches the filters" if prepared.conditions else "it has no text to search"
        return
    fused = np.flatnonzero(np.isin(table.fusion_order, own))
    if len(fused):
        yield f"rank {fused[0] + 1} of the fusion; only the first {table.reranked} are reranked"
        return
    if prepared.vector.any():
        for nearest in snapshot.vectors.search(prepared.vector, 1, own)[1].tolist():
            yield (
                f"meaning: its nearest chunk has cosine {nearest:.2f},"
                f" the last of {table.depth} candidates {table.last_cosine:.2f}"
            )
    scores = snapshot.keywords.search(prepared.terms, FIELD_WEIGHTS, 1, own).scores.tolist()
    for score in scores:
        yield (
            f"words: its best chunk has BM25F {score:.2f},"
            f" the last of {table.depth} candidates {table.last_words:.2f}"
        )
    if not scores:
        yield f"words: it contains none of {', '.join(dict.fromkeys(term.word for term in prepared.terms))}"
    yield "links: only links to the strongest notes count, and it is not one of them"


def _chunk_keys(prepared: PreparedQuery, note: NoteRow) -> Keys:
    rows = prepared.snapshot.catalog.chunks_of(note.note_id)
    return np.array([row.key for row in rows], np.int64)


def _passing_chunks(prepared: PreparedQuery, note: NoteRow) -> Keys:
    keys = _chunk_keys(prepared, note)
    return keys[prepared.passing(keys)]


def attachment_reasons(prepared: PreparedQuery, path: str, *, shown: bool) -> Iterator[str]:
    """Yields the reasons for a file that is searched by name only."""
    yield "it is an attachment: only its name is searched"
    wanted = name_query(prepared, datetime.now().astimezone())
    file = prepared.snapshot.catalog.file(path)
    mtime_ns = file.mtime_ns if file else 0
    failed = [
        condition.source
        for condition in prepared.conditions
        if not wanted.meets(condition.node, path, mtime_ns)
    ]
    yield from (f"it does not match the filter {source}" for source in failed)
    if missing := wanted.missing_words(path):
        yield f"its name lacks {', '.join(missing)}"
    elif not failed and wanted.is_possible:
        yield "its name matches the query"
        if not shown:
            yield "higher-ranked hits fill the answer: ask for more, or add file: to the query"
    elif not failed:
        yield "the query does not ask for names of files"


@record
class Searcher:
    """Answers queries to one vault with one embedding model and one set of search settings.

    The `IndexReader` of a generation owns it and replaces it when the settings change. It has no state
    between searches, so any thread may call any method. The caller leases the snapshot until the call
    returns. All results come from that snapshot.
    """

    embedder: Embedder
    settings: SearchSettings

    def with_settings(self, settings: SearchSettings) -> Searcher:
        return replace(self, settings=settings)

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
        deadline = deadline or QueryDeadline(self.settings.deadline_s)
        only = SearchedVault("", vault, snapshot, self.embedder)
        return search_vaults([only], request, self.settings, deadline)

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
        place, relevance = ChunkRank(None, 0, False, None), None
        if prepared.text:
            limits = AnswerLimits.of(request, self.settings)
            ranked = RankedGroup.of([prepared], self.settings, limits)
            place, row = _rank_of(ranked, note, limits)
            if row is None:
                reasons += absence_reasons(prepared, ranked.table, note)
            elif (shown_note := ranked.copies.shown_note.get(note.note_id)) is not None:
                path = snapshot.catalog.notes([shown_note])[shown_note].path
                reasons.append(f"it has the same text as {path}, and is shown with it")
            else:
                reasons += place_reasons(place, limits.notes)
            relevance = None if row is None else ranked.relevance([row])[row]
        return Explanation(
            query=request.query,
            path=note.path,
            rank=place.rank,
            candidates=place.candidates,
            shown=place.shown if prepared.text else bool(_passing_chunks(prepared, note).size),
            why=place.why,
            relevance=relevance,
            reasons=tuple(reasons),
        )

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
        deadline = deadline or QueryDeadline(self.settings.deadline_s)
        only = [SearchedVault("", None, snapshot, self.embedder)]
        return prepare_query(only, request, deadline, self.settings.synonyms.groups)[0]


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


@record
class IndexReader:
    """The parts that a search of one generation requires. `model` is the catalog's key for its vectors."""

    holder: SnapshotHolder
    searcher: Searcher
    model: str
