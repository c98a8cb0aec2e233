"""Age: recently modified notes rank a little higher."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from vault_indexer.config.settings import RecencySettings
from vault_indexer.search.rank.candidates import Candidates, RankRequest, local_notes

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
