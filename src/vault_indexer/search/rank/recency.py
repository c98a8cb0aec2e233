"""Recently modified notes rank a little higher."""

from __future__ import annotations

from vault_indexer.config.settings import RecencySettings

_DAY_NS = 86_400 * 1_000_000_000


def recency_factor(mtime_ns: int, now_ns: int, settings: RecencySettings) -> float:
    """The largest boost among the tiers whose `days` the note's age does not exceed; 1.0 if none."""
    if not settings.enabled:
        return 1.0
    age_days = (now_ns - mtime_ns) / _DAY_NS
    return max((tier.boost for tier in settings.tiers if age_days <= tier.days), default=1.0)
