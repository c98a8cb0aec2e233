"""One query ranked by many settings: what settings do not change is made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vault_indexer.config.settings import SearchSettings
from vault_indexer.search.prepare import PreparedQuery
from vault_indexer.search.rank.candidates import Candidates, HeldWords, RankRequest
from vault_indexer.search.rank.chunk_coverage import cover
from vault_indexer.search.rank.complete import complete
from vault_indexer.search.rank.link import link
from vault_indexer.search.rank.note_evidence import weigh_notes
from vault_indexer.search.rank.rank import STAGES, Stage, depth_of
from vault_indexer.search.rank.retrieve import retrieve
from vault_indexer.search.rank.titles import first_chunks_by_name

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
        """The candidates by meaning, by word and by link."""
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
    """A table of these rows alone, with what the stages look up."""
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
    """It is known already."""
    del table, request
