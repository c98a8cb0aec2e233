"""Values in a query: moments, numbers, dates, tags."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

_AGO = re.compile(r"(\d{1,4})([hdwmy])")
_UNIT_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_YEAR = re.compile(r"\d{4}")
_UNPADDED = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2})(:.*))?")
_BASED = re.compile(r"0[ox][0-9a-fA-F]+")
_TAG = re.compile(r"[^\s#,;:.!?\"'`()\[\]{}<>|\\]+")
_LARGEST_NS = 2**63 - 1

MOMENTS = (
    "a date (2026, 2026-01, 2026-01-31, 2026-01-31T09:30), an age (12h, 7d, 2w, 3m, 1y), today or yesterday"
)


def moment_ns(text: str, now: datetime) -> int:
    """Nanoseconds since the epoch of a moment's beginning. Raises ValueError if it is none of `MOMENTS`.

    A date without an offset is in the time zone of `now`; a month of an age has 30 days, a year 365. A moment
    before 1677 or after 2262 becomes the first or last one that fits into the 64 bits of SQLite's integers.
    """
    folded = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if folded == "today":
        return _ns(midnight)
    if folded == "yesterday":
        return _ns(_local(midnight.date() - timedelta(days=1), now.tzinfo))
    ago = _AGO.fullmatch(folded)
    if ago:
        return _ns(now - timedelta(days=int(ago[1]) * _UNIT_DAYS[ago[2]]))
    if _YEAR.fullmatch(folded):
        return _ns(_local(date(int(folded), 1, 1), now.tzinfo))
    day = _DAY.fullmatch(folded)
    if day:
        return _ns(_local(date(int(day[1]), int(day[2]), int(day[3] or 1)), now.tzinfo))
    exact = datetime.fromisoformat(text.strip())
    return _ns(exact if exact.tzinfo else exact.replace(tzinfo=now.tzinfo))


def _local(day: date, zone: tzinfo | None) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _ns(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    exact = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
    return min(max(exact, -_LARGEST_NS), _LARGEST_NS)


def is_moment(text: str) -> bool:
    """Whether `moment_ns` takes it."""
    try:
        moment_ns(text, datetime(2000, 1, 1, tzinfo=UTC))
    except (ValueError, OverflowError):
        return False
    return True


def number(value: object) -> float | None:
    """A finite number, or a text that is one; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        based = _BASED.fullmatch(value) if isinstance(value, str) else None
        found = float(int(based[0], 0) if based else value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < float("inf") else None


def iso_date(value: object) -> str | None:
    """A date or time in a form whose alphabetic order is that of time ("2026-01", "2026-01-31T09:30:00")."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    if unpadded := _UNPADDED.fullmatch(text):
        year, *rest, minutes = unpadded.groups()
        month, day_of_month, hour = (part and part.zfill(2) for part in rest)
        text = f"{year}-{month}-{day_of_month}" + (f"T{hour}{minutes}" if hour else "")
    day = _DAY.fullmatch(text)
    try:
        if day:
            date(int(day[1]), int(day[2]), int(day[3] or 1))
            return text
        if not _DAY.match(text):
            return None
        exact = datetime.fromisoformat(text)
    except ValueError:
        return None
    return exact.replace(tzinfo=None).isoformat()


def is_tag(text: str) -> bool:
    """Whether it can be a tag, without its `#`."""
    return bool(_TAG.fullmatch(text)) and not text.startswith("/")
