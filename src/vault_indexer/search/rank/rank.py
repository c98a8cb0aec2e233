"""One ranking of all candidates: the stages, in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.config.settings import RecencySettings, SearchSettings
from vault_indexer.search.filters import ChunkFilter
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest, local_notes
from vault_indexer.search.rank.fuse import fuse
from vault_indexer.search.rank.link import link
from vault_indexer.search.rank.notes import cover, group, weigh_notes
from vault_indexer.search.rank.rerank import rerank
from vault_indexer.search.rank.retrieve import complete, retrieve
from vault_indexer.search.rank.titles import add_title_scores, first_chunks_by_name
from vault_indexer.store import Snapshot

# Age: recently modified notes rank a little higher.


_DAY_NS = 86_400 * 1_000_000_000


def age(table: Candidates, request: RankRequest) -> None:
    """Multiply each row by what the age of its note says. Rows whose note is gone are dropped."""
    now = time.time_ns()
    factors = np.full(len(table), np.nan)
    for number, query in enumerate(request.queries):
        rows = np.flatnonzero(table.vault == number)
        notes = local_notes(table.note[rows]).tolist()
        modified = query.snapshot.catalog.modified_times(set(notes))
        known = recency_factors(modified, now, request.settings.recency)
        factors[rows] = [known.get(note_id, np.nan) for note_id in notes]
    table.age = factors
    table.score = table.score * factors
    known = ~np.isnan(factors)
    if not known.all():
        table.take(known)


def recency_factors(modified: Mapping[int, int], now_ns: int, settings: RecencySettings) -> dict[int, float]:
    """For each note, by id, the largest boost among the tiers whose `days` its age does not exceed; 1.0 if
    none. `modified` are the times of their last changes, in nanoseconds."""
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
"""Each ranking gives at least this many: what both half know is found deep in each. With 100 nDCG@10 is .004
higher on the help vault, .002 lower on the large one and the same on all others; a search takes longer."""

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
"""Each adds candidates or fills columns; see the module of each. Three rankings (`retrieve`, `link`) become
one list (`fuse`). All evidence for its first rows is gathered (`complete`, `weigh_notes`, `cover`) and orders
them (`rerank`). Then come the rules on age, notes and names."""


def depth_of(settings: SearchSettings, limit: int) -> int:
    """How many chunks each ranking gives for an answer of so many hits."""
    return settings.candidates or max(MIN_CANDIDATES, 2 * limit)


def rank(
    queries: Sequence[PreparedQuery], settings: SearchSettings, *, by_note: bool, limit: int
) -> Candidates:
    """All candidates of a query that has words, best first, those of several vaults as those of one.

    Cosines and statistics of words have to be comparable: the models are the same, and so are the collections
    of words (`WordStatistics`). With `by_note` each note is there once, by its best chunk.
    """
    request = RankRequest(queries, settings, limit, by_note)
    table = Candidates(depth_of(settings, limit))
    table.named = first_chunks_by_name(queries)
    for stage in STAGES:
        stage(table, request)
    table.take(table.best_first(table.score))
    return table


# The answer to a query of filters alone: the notes they leave, or the places they found.


LISTED = "the query has only filters, so the notes changed last come first"


def list_by_time(
    snapshot: Snapshot, chosen: ChunkFilter, limit: int, per_note: int, named: frozenset[int] = frozenset()
) -> list[int]:
    """Chunk keys, note by note: the `named` notes, then the one changed last first (of equals, by path). A
    note that matches as a whole is there once, by its first chunk; else at most `per_note` of the chunks that
    hold a place."""
    newest_first = snapshot.catalog.rows("SELECT note_id FROM notes ORDER BY mtime_ns DESC, path")
    notes = [note_id for (note_id,) in newest_first]
    return chosen.first_chunks(sorted(notes, key=lambda one: one not in named), limit, per_note)


# One query ranked by many settings: what settings do not change is made once.


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

_EVIDENCE = ("cosine", "vector_rank", "words", "word_rank", "note_cosine", "note_coverage", "coverage")
_FOUND = ("vector_rank", "cosine", "word_rank", "words")
_LOOKED_UP: Sequence[Stage] = (complete, weigh_notes, cover)
"""The stages that look up evidence for each row by itself: the same for a chunk whatever the weights are."""

_Switches = tuple[bool, bool, int]
"""Whether meaning and words count at all, and how many chunks each ranking gives. Settings change what is
retrieved and looked up by these alone."""


class RepeatedRank:
    """Ranks one query over one vault again and again, each time as `rank` does.

    It keeps the three rankings, of which that by link follows the weights of the other two, and the evidence
    for each chunk that was ever a candidate; fusion, reranking and what comes after are made for each
    settings. One thread uses it, as long as the snapshot of the query is leased.
    """

    def __init__(self, query: PreparedQuery) -> None:
        self._query = query
        self._named = first_chunks_by_name([query])
        self._retrieved: dict[tuple[float, ...], Candidates] = {}
        self._known: dict[_Switches, Candidates] = {}

    def rank(self, settings: SearchSettings, *, by_note: bool, limit: int) -> Candidates:
        """All candidates, best first: the table that `rank` makes."""
        request = RankRequest([self._query], settings, limit, by_note)
        table = Candidates(depth_of(settings, limit))
        table.named = self._named
        for stage in STAGES:
            self._replaced.get(stage, stage)(table, request)
        table.take(table.best_first(table.score))
        return table

    @property
    def _replaced(self) -> dict[Stage, Stage]:
        first, *others = _LOOKED_UP
        return {
            retrieve: self._retrieve,
            link: _nothing,
            first: self._look_up,
            **dict.fromkeys(others, _nothing),
        }

    def _retrieve(self, table: Candidates, request: RankRequest) -> None:
        weights = request.settings.weights
        rrf_k = request.settings.rrf_k
        key = (table.depth, rrf_k, weights.vector, weights.keyword, bool(weights.graph))
        if key not in self._retrieved:
            found = self._retrieved[key] = Candidates(table.depth)
            retrieve(found, request)
            link(found, request)
        found = self._retrieved[key]
        rows = table.rows_at(found.key)
        for name in (*_FOUND, "link_rank", "link", "via"):
            getattr(table, name)[rows] = getattr(found, name)
        table.last_cosine, table.last_words = found.last_cosine, found.last_words

    def _look_up(self, table: Candidates, request: RankRequest) -> None:
        """The evidence for each row; of chunks that were rows before it is known."""
        switches = _switches(table, request)
        known = self._known.setdefault(switches, Candidates(table.depth))
        new = np.flatnonzero(~np.isin(table.key, known.key))
        if len(new):
            self._known[switches] = known = _joined(known, _evidence_of(table, new, request))
        order = known.key.argsort()
        places = order[np.searchsorted(known.key, table.key, sorter=order)]
        for name in _EVIDENCE:
            setattr(table, name, getattr(known, name)[places])
        table.held = {0: HeldWords(np.arange(len(table)), known.held[0].mask[places])} if len(known) else {}
        table.coverage_weight = known.coverage_weight


def _switches(table: Candidates, request: RankRequest) -> _Switches:
    weights = request.settings.weights
    return bool(weights.vector), bool(weights.keyword), table.depth


def _evidence_of(table: Candidates, rows: NDArray[np.int64], request: RankRequest) -> Candidates:
    found = Candidates(table.depth)
    found.rows_at(table.key[rows])
    for name in _FOUND:
        setattr(found, name, getattr(table, name)[rows].copy())
    for stage in _LOOKED_UP:
        stage(found, request)
    at, mask = found.held[0]
    in_order = np.empty_like(mask)
    in_order[at] = mask
    found.held = {0: HeldWords(np.arange(len(found)), in_order)}
    return found


def _joined(one: Candidates, other: Candidates) -> Candidates:
    """The rows of both, which share none."""
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


def _nothing(table: Candidates, request: RankRequest) -> None:
    del table, request
