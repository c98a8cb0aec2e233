"""How times are written for programs and people alike."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_time(time_ns: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return f"{datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).replace(tzinfo=None).isoformat()}Z"
