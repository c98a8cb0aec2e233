"""One search over one snapshot: candidates, fusion, recency, limits, reasons."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_indexer.config.settings import SearchSettings
from vault_indexer.model import (
    ChunkRow,
    Hit,
    KeywordReason,
    NoteRow,
    SearchRequest,
    Why,
    note_id_of,
)
from vault_indexer.ports import Embedder
from vault_indexer.search.concepts import expanded, expansions
from vault_indexer.search.fuse import best_first, reciprocal_rank_fusion
from vault_indexer.search.neighbours import SEEDS, neighbours_of
from vault_indexer.search.recency import recency_factor
from vault_indexer.search.retrieve import Rankings, by_link, by_meaning, by_word, keyword_reasons, note_ids
from vault_indexer.search.snippet import snippet
from vault_indexer.store.keyword_schema import FieldWeights
from vault_indexer.store.snapshot import Snapshot
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

_MIN_CANDIDATES = 50
"""Each ranking gives at least this many: fusing deep rankings costs little and finds what both half know."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """Every candidate's final score, and the parts it is made of."""

    order: list[int]
    scores: Mapping[int, float]
    fused: Mapping[int, float]
    recency: Mapping[int, float]
    notes: Mapping[int, NoteRow]


class Searcher:
    """Answers queries by one configuration and one model. Holds no state between searches."""

    def __init__(self, embedder: Embedder, settings: SearchSettings) -> None:
        self._embedder = embedder
        self._settings = settings
        self._fields = FieldWeights()

    def with_settings(self, settings: SearchSettings) -> Searcher:
        """The same model, other settings."""
        return Searcher(self._embedder, settings)

    def search(self, snapshot: Snapshot, request: SearchRequest) -> list[Hit]:
        """The best chunks, best first, scores in [0, 1] with the best at 1."""
        limit = request.limit or self._settings.limit
        terms = self._terms(snapshot, request)
        rankings = self._rank(snapshot, request.query, terms, limit)
        scored = self._score(snapshot, rankings)
        per_note = 1 if request.by_note else self._settings.max_chunks_per_note
        shown = _limited(scored.order, limit, per_note)
        words = keyword_reasons(snapshot, rankings.keyword, shown, terms, self._fields)
        rows = snapshot.catalog.chunks(shown)
        top = scored.scores[shown[0]] if shown else 1.0
        return [
            self._hit(
                rows[key], scored, scored.scores[key] / top, self._why(key, rankings, words, scored), request
            )
            for key in shown
            if key in rows
        ]

    def _terms(self, snapshot: Snapshot, request: SearchRequest) -> list[QueryTerm]:
        terms = analyze_query(request.query, snapshot.languages, typing=request.as_you_type)
        return [*terms, *expanded(request.query, snapshot.languages)]

    def _rank(self, snapshot: Snapshot, query: str, terms: Sequence[QueryTerm], limit: int) -> Rankings:
        k = self._settings.candidates or max(_MIN_CANDIDATES, 2 * limit)
        vector = self._embedder.embed_query("\n".join([query, *expansions(query)]))
        meaning = by_meaning(snapshot, vector, k)
        words = by_word(snapshot, terms, self._fields, k)
        strongest = best_first(self._fuse(Rankings(meaning, words, {})))
        paths = snapshot.catalog.notes(note_ids(strongest[: 4 * SEEDS]))
        seeds = [paths[note_id].path for note_id in note_ids(strongest) if note_id in paths][:SEEDS]
        links = by_link(snapshot, neighbours_of(snapshot, seeds), vector, k)
        return Rankings(meaning, words, links)

    def _fuse(self, rankings: Rankings) -> dict[int, float]:
        weights = self._settings.weights
        return reciprocal_rank_fusion(
            {
                "vector": list(rankings.vector),
                "keyword": list(rankings.keyword),
                "graph": list(rankings.graph),
            },
            {"vector": weights.vector, "keyword": weights.keyword, "graph": weights.graph},
            self._settings.rrf_k,
        )

    def _score(self, snapshot: Snapshot, rankings: Rankings) -> _Scored:
        fused = self._fuse(rankings)
        notes = snapshot.catalog.notes({note_id_of(key) for key in fused})
        now = time.time_ns()
        live = [key for key in fused if note_id_of(key) in notes]
        recency = {
            key: recency_factor(notes[note_id_of(key)].mtime_ns, now, self._settings.recency) for key in live
        }
        scores = {key: fused[key] * recency[key] for key in live}
        return _Scored(best_first(scores), scores, fused, recency, notes)

    def _why(self, key: int, rankings: Rankings, words: Mapping[int, KeywordReason], scored: _Scored) -> Why:
        return Why(
            vector=rankings.vector.get(key),
            keyword=words.get(key),
            graph=rankings.graph.get(key),
            recency=scored.recency[key],
            fused=scored.fused[key],
        )

    def _hit(self, row: ChunkRow, scored: _Scored, score: float, why: Why, request: SearchRequest) -> Hit:
        note = scored.notes[row.note_id]
        matched = why.keyword.terms if why.keyword else ()
        shown, marks = snippet(row.chunk.body, matched or request.query.split(), self._settings.snippet_chars)
        return hit_of(note, row, score, why, (shown, marks))


def hit_of(
    note: NoteRow, row: ChunkRow, score: float, why: Why, shown: tuple[str, tuple[tuple[int, int], ...]]
) -> Hit:
    """A chunk as an answer shows it."""
    chunk = row.chunk
    return Hit(
        path=note.path,
        title=note.title,
        header_path=chunk.header_path,
        chunk_id=chunk.chunk_id,
        chunk_index=chunk.chunk_index,
        start_pos=chunk.start_pos,
        end_pos=chunk.end_pos,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=score,
        snippet=shown[0],
        content=chunk.content,
        modified_time=iso_time(note.mtime_ns),
        tags=note.tags,
        stale=False,
        why=why,
        aliases=note.aliases,
        frontmatter=note.frontmatter,
        marks=shown[1],
    )


def iso_time(time_ns: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _limited(order: Iterable[int], limit: int, per_note: int) -> list[int]:
    """The first `limit` keys with at most `per_note` of one note."""
    shown: list[int] = []
    held: dict[int, int] = {}
    for key in order:
        note_id = note_id_of(key)
        if held.get(note_id, 0) < per_note:
            held[note_id] = held.get(note_id, 0) + 1
            shown.append(key)
            if len(shown) == limit:
                break
    return shown
