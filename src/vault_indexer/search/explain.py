"""Explains the rank of a note in the results, or its absence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.model import Explanation, NoteRow, Why
from vault_indexer.search.attachments import name_query
from vault_indexer.search.deadline import ReadingBudget
from vault_indexer.search.filters import Evaluation, at_level
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.query import Node, level_of
from vault_indexer.search.rank import Candidates
from vault_indexer.store.keywords import FIELD_WEIGHTS
from vault_indexer.text.phrases import quantity


@dataclass(frozen=True, slots=True)
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


def explanation(query: str, note: NoteRow, place: ChunkRank, reasons: Sequence[str]) -> Explanation:
    return Explanation(
        query=query,
        path=note.path,
        rank=place.rank,
        candidates=place.candidates,
        shown=place.shown,
        why=place.why,
        reasons=tuple(reasons),
    )


def filter_reasons(prepared: PreparedQuery, note: NoteRow) -> Iterator[str]:
    """Yields one sentence for each filter that the note does not match, or one sentence if it matches all."""
    only = frozenset({note.note_id})
    now = datetime.now().astimezone()
    evaluation = Evaluation(prepared.snapshot, now, prepared.deadline, ReadingBudget(), only)
    catalog = prepared.snapshot.catalog
    own = np.array([row.key for row in catalog.chunks_of(note.note_id)], np.int64)

    def holds(node: Node) -> bool:
        level = level_of(node)
        if level is None:
            return bool(evaluation.check(node, only)[0].notes)
        return bool(at_level(catalog, own, level).any())

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
    own = np.array([row.key for row in snapshot.catalog.chunks_of(note.note_id)], np.int64)
    own = own[prepared.passing(own)]
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
        yield "its name holds what the query asks for"
        if not shown:
            yield "the answer is full of hits that come before it: ask for more, or add file: to the query"
    elif not failed:
        yield "the query does not ask for names of files"
