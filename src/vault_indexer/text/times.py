"""How times are written for programs and people alike."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_time(time_ns: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return iso_moment(datetime.fromtimestamp(time_ns // 1_000_000_000, UTC))


def iso_moment(moment: datetime, timespec: str = "seconds") -> str:
    """ISO 8601 of a moment in UTC, to the second or whatever `timespec` says."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
