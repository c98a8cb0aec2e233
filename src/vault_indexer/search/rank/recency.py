"""Recently modified notes rank a little higher."""

from __future__ import annotations

from collections.abc import Mapping

from vault_indexer.config.settings import RecencySettings

_DAY_NS = 86_400 * 1_000_000_000


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
