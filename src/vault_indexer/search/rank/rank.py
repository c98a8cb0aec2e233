"""Runs the ranking stages in order and returns one ranking of all candidates."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from vault_indexer.arrays import Positions
from vault_indexer.config.settings import RecencySettings, SearchSettings
from vault_indexer.search.filters import ChunkFilter
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest, fuse, local_notes
from vault_indexer.search.rank.link import link
from vault_indexer.search.rank.rerank import rerank
from vault_indexer.search.rank.retrieve import (
    add_title_scores,
    complete,
    cover,
    first_chunks_by_name,
    group,
    retrieve,
    weigh_notes,
)
from vault_indexer.store import Snapshot

CHANCE = 0.05
"""The share of a document's score lost with each doubling of its number of chunks: the best of many chunks is
near to any query by chance. Among 500 PDFs, notes lose a quarter less nDCG with it. A long note loses nothing
(that would cost .02 on Obsidian's help)."""

# Age: recently modified notes rank a little higher.


_DAY_NS = 86_400 * 1_000_000_000


def age(table: Candidates, request: RankRequest) -> None:
    """Multiplies the score of each row by the factors for the age of its note and, if it is a document, for
    that. Drops rows whose note is gone."""
    now = time.time_ns()
    factors = np.full(len(table), np.nan)
    for number, query in enumerate(request.queries):
        rows = np.flatnonzero(table.vault == number)
        notes = local_notes(table.note[rows]).tolist()
        modified = query.snapshot.catalog.modified_times(set(notes))
        by_note = recency_factors(modified, now, request.settings.recency)
        factors[rows] = [by_note.get(note_id, np.nan) for note_id in notes]
        documents = query.snapshot.catalog.documents_among(set(notes))
        if documents:
            weight = request.settings.documents.weight
            weights = {note_id: weight / (1 + CHANCE * math.log2(n)) for note_id, n in documents.items()}
            table.document[rows] = [weights.get(note_id, 1.0) for note_id in notes]
    table.age = factors
    table.score = table.score * factors * table.document
    # Without a daemon, a derived index may be behind its catalog (`open_to_read`) and still contain the note.
    exists = ~np.isnan(factors)
    if not exists.all():
        table.take(exists)


def recency_factors(modified: Mapping[int, int], now_ns: int, settings: RecencySettings) -> dict[int, float]:
    """Returns for each note, by id, the largest boost of the tiers whose `days` its age does not exceed, or
    1.0. `modified` are the times of the last changes, in nanoseconds."""
    tiers = settings.tiers if settings.enabled else ()
    last = max((tier.days for tier in tiers), default=0.0)
    factors = {}
    for note_id, modified_ns in modified.items():
        age = (now_ns - modified_ns) / _DAY_NS
        # Most notes are older than any tier.
        factors[note_id] = (
            1.0 if age > last else max((tier.boost for tier in tiers if age <= tier.days), default=1.0)
        )
    return factors


MIN_CANDIDATES = 60
"""The minimum number of chunks from each ranking. A chunk that both rankings consider mediocre is deep in
each. With 100, nDCG@10 is .004 higher on the help vault, .002 lower on the large one and the same on all
others, and a search takes longer."""

Stage = Callable[[Candidates, RankRequest], None]

STAGES: tuple[Stage, ...] = (
    retrieve,
    link,
    fuse,
    complete,
    weigh_notes,
    cover,
    rerank,
    age,
    group,
    add_title_scores,
)
"""The stages in order. Each adds candidates or fills columns; see its module. `retrieve` and `link` produce
three rankings, and `fuse` merges them. `complete`, `weigh_notes` and `cover` collect all evidence for the
first rows, and `rerank` sorts the rows by it. The rules for age, notes and names follow."""


def depth_of(settings: SearchSettings, limit: int) -> int:
    """Returns the number of chunks from each ranking for at most `limit` hits."""
    return settings.candidates or max(MIN_CANDIDATES, 2 * limit)


def rank(
    queries: Sequence[PreparedQuery], settings: SearchSettings, *, by_note: bool, limit: int
) -> Candidates:
    """Returns all candidates of a query with words, best first. Several vaults are ranked like one.

    Cosines and word statistics must be comparable, so the queries must share one model and one collection of
    words (`WordStatistics`). With `by_note` each note occurs once, with its best chunk.
    """
    return _ranked(RankRequest(queries, settings, limit, by_note), first_chunks_by_name(queries), STAGES)


def _ranked(request: RankRequest, named: dict[int, int], stages: Iterable[Stage]) -> Candidates:
    table = Candidates(depth_of(request.settings, request.limit), named)
    for stage in stages:
        stage(table, request)
    table.take(table.best_first(table.score))
    return table


# The results of a query with only filters: the matching notes, or the matching places.


LISTED = "the query has only filters, so the notes changed last come first"


def list_by_time(
    snapshot: Snapshot, chosen: ChunkFilter, limit: int, per_note: int, named: frozenset[int] = frozenset()
) -> list[int]:
    """Returns chunk keys, note by note: first the `named` notes, then the most recently changed, and notes
    with equal times by path. A note that matches as a whole occurs once, with its first chunk. Otherwise it
    occurs with at most `per_note` of the chunks that contain a match."""
    newest_first = snapshot.catalog.rows("SELECT note_id FROM notes ORDER BY mtime_ns DESC, path")
    notes = [note_id for (note_id,) in newest_first]
    return chosen.first_chunks(sorted(notes, key=lambda note_id: note_id not in named), limit, per_note)


# Ranks one query with many settings. The parts that do not depend on the settings are computed once.


_EVIDENCE = ("cosine", "vector_rank", "words", "word_rank", "note_cosine", "note_coverage", "coverage")
_FOUND = ("vector_rank", "cosine", "word_rank", "words")
_LOOKED_UP: Sequence[Stage] = (complete, weigh_notes, cover)
"""The stages that look up evidence for each row separately. It does not depend on the weights."""

_Switches = tuple[bool, bool, int]
"""Whether meaning and words weigh, and the depth: retrieval and lookup depend on no other settings."""


class RepeatedRank:
    """Ranks one query over one vault repeatedly, each time with the same result as `rank`.

    It stores the three rankings (the one by link depends on the weights of the other two) and the evidence
    for each chunk that has ever been a candidate. Fusion, reranking and the later stages run for each set of
    settings. One thread uses it during the lease of the query's snapshot.
    """

    def __init__(self, query: PreparedQuery) -> None:
        self._query = query
        self._named = first_chunks_by_name([query])
        self._retrieved: dict[tuple[float, ...], Candidates] = {}
        self._known: dict[_Switches, Candidates] = {}

    def rank(self, settings: SearchSettings, *, by_note: bool, limit: int) -> Candidates:
        """Returns all candidates, best first, in the same table as `rank`."""
        request = RankRequest([self._query], settings, limit, by_note)
        first, *others = _LOOKED_UP
        replaced: dict[Stage, Stage] = {retrieve: self._retrieve, first: self._look_up}
        stages = (replaced.get(stage, stage) for stage in STAGES if stage not in (link, *others))
        return _ranked(request, self._named, stages)

    def _retrieve(self, table: Candidates, request: RankRequest) -> None:
        weights = request.settings.weights
        rrf_k = request.settings.rrf_k
        # The ranking by link starts from the fusion of the other two, so it depends on their weights.
        notes = request.limit if request.by_note else 0
        key = (table.depth, notes, rrf_k, weights.vector, weights.keyword, bool(weights.graph))
        if key not in self._retrieved:
            new = self._retrieved[key] = Candidates(table.depth)
            retrieve(new, request)
            link(new, request)
        retrieved = self._retrieved[key]
        rows = table.rows_at(retrieved.key)
        for name in (*_FOUND, "link_rank", "link", "via"):
            getattr(table, name)[rows] = getattr(retrieved, name)
        table.last_cosine, table.last_words = retrieved.last_cosine, retrieved.last_words

    def _look_up(self, table: Candidates, request: RankRequest) -> None:
        """Sets the evidence of each row. Evidence of chunks that were rows before is reused."""
        weights = request.settings.weights
        switches = bool(weights.vector), bool(weights.keyword), table.depth
        known = self._known.setdefault(switches, Candidates(table.depth))
        new = np.flatnonzero(~np.isin(table.key, known.key))
        if len(new):
            self._known[switches] = known = _joined(known, _evidence_of(table, new, request))
        # `known` grows with each set of settings, so its keys are not in order.
        order = known.key.argsort()
        places = order[np.searchsorted(known.key, table.key, sorter=order)]
        for name in _EVIDENCE:
            setattr(table, name, getattr(known, name)[places])
        table.held = {0: HeldWords(np.arange(len(table)), known.held[0].mask[places])} if len(known) else {}
        table.coverage_weight = known.coverage_weight


def _evidence_of(table: Candidates, rows: Positions, request: RankRequest) -> Candidates:
    found = Candidates(table.depth)
    found.rows_at(table.key[rows])
    for name in _FOUND:
        setattr(found, name, getattr(table, name)[rows])
    for stage in _LOOKED_UP:
        stage(found, request)
    at, mask = found.held[0]
    in_order = np.empty_like(mask)
    # `held` is in the order of keys, the table in the order of arrival.
    in_order[at] = mask
    found.held = {0: HeldWords(np.arange(len(found)), in_order)}
    return found


def _joined(one: Candidates, other: Candidates) -> Candidates:
    """Returns a table with the rows of both tables, which must have no common row."""
    if not len(one):
        return other
    joined = Candidates(one.depth)
    joined.rows_at(np.concatenate([one.key, other.key]))
    for name in _EVIDENCE:
        setattr(joined, name, np.concatenate([getattr(one, name), getattr(other, name)]))
    mask = np.concatenate([one.held[0].mask, other.held[0].mask])
    joined.held = {0: HeldWords(np.arange(len(joined)), mask)}
    joined.coverage_weight = max(one.coverage_weight, other.coverage_weight)
    return joined
