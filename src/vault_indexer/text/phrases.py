"""Formats numbers with nouns, lists of names, and times for output."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta


def quantity(number: int, noun: str) -> str:
    """Returns `1 change`, `2 changes` or `12,345 changes`, for nouns with a plural in s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def which_vault(names: Iterable[str]) -> str:
    """Returns the message for a command that requires one of several vaults but does not name it."""
    options = [f"--vault {name}" for name in names]
    listed = " or ".join([", ".join(options[:-1]), options[-1]] if len(options) > 1 else options)
    return f"Which vault? Add {listed or '--vault DIR'}."


# Times in one format for programs and users.

_1970 = datetime(1970, 1, 1, tzinfo=UTC)


def iso_time(time_ns: int) -> str:
    """Returns a time in ISO 8601 and UTC, to the second."""
    return iso_moment(_1970 + timedelta(seconds=time_ns // 1_000_000_000))


def iso_moment(moment: datetime, timespec: str = "seconds") -> str:
    """Returns a moment in UTC in ISO 8601. `timespec` is the precision."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
