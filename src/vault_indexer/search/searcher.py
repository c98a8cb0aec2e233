"""Searches one snapshot and explains ranks in its results, with one model and one set of settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from vault_indexer.arrays import Keys
from vault_indexer.config.settings import SearchSettings
from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.model import Explanation, NoteRow, SearchRequest
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

# Explains the rank of a note in the results, or its absence.


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
        self, snapshot: Snapshot, note: NoteRow, request: SearchRequest, deadline: QueryDeadline | None = None
    ) -> Explanation:
        """Returns the note's rank with its reasons, or the reasons for its absence. Raises as `search`."""
        prepared = self._prepare(snapshot, request, deadline)
        reasons = list(filter_reasons(prepared, note))
        found = Explanation(query=request.query, path=note.path, rank=None, shown=False, why=None, reasons=())
        if not prepared.text:
            matches = bool(_passing_chunks(prepared, note).size)
            return replace(found, shown=matches, reasons=tuple(reasons))
        limits = AnswerLimits.of(request, self.settings)
        ranked = RankedGroup.of([prepared], self.settings, limits)
        table, shown_note = ranked.table, ranked.copies.shown_note
        found = replace(found, candidates=len(table))
        own = np.flatnonzero(table.note == note.note_id)
        if not len(own):
            return replace(found, reasons=(*reasons, *absence_reasons(prepared, table, note)))
        row = int(own[0])  # the best chunk of the note
        shown = [place.row for place in shown_places([ranked], limits)]
        if note.note_id in shown_note:
            path = snapshot.catalog.notes([shown_note[note.note_id]])[shown_note[note.note_id]].path
            reasons.append(f"it has the same text as {path}, and is shown with it")
        elif row not in shown:
            needed = len(set(table.note[: row + 1].tolist()) - set(shown_note))
            more = f": ask for {needed} or more (-n {needed})" if needed <= MAX_LIMIT else ""
            reasons.append(f"the list ends after {quantity(limits.notes, 'note')}{more}")
        elif row not in _likely_rows(ranked, shown):
            reasons.append("it is not among the likely hits: --nearest shows all")
        return replace(
            found,
            rank=row + 1,
            shown=row in shown,
            why=reasons_of(prepared, table, [row])[row],
            relevance=ranked.relevance([row])[row],
            reasons=tuple(reasons),
        )

    def explain_attachment(
        self, snapshot: Snapshot, path: str, request: SearchRequest, deadline: QueryDeadline | None = None
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


def _likely_rows(ranked: RankedGroup, shown: Sequence[int]) -> Sequence[int]:
    relevance = list(ranked.relevance(shown).values())
    return shown[: count_likely(relevance, verdict_of(relevance))]


# The snapshots of one generation, with the searcher for its model.


@record
class IndexReader:
    """The parts that a search of one generation requires. `model` is the catalog's key for its vectors."""

    holder: SnapshotHolder
    searcher: Searcher
    model: str
