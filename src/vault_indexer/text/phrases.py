"""Numbers with their nouns, and lists of names, as a person says them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime


def quantity(number: int, noun: str) -> str:
    """`1 change`, `2 changes`, `12,345 changes`; for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def which_vault(names: Iterable[str]) -> str:
    """The answer to a command that works on one vault and names none of several."""
    options = [f"--vault {name}" for name in names]
    listed = " or ".join([", ".join(options[:-1]), options[-1]] if len(options) > 1 else options)
    return f"Which vault? Add {listed or '--vault DIR'}."


# How times are written for programs and people alike.


def iso_time(time_ns: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return iso_moment(datetime.fromtimestamp(time_ns // 1_000_000_000, UTC))


def iso_moment(moment: datetime, timespec: str = "seconds") -> str:
    """ISO 8601 of a moment in UTC, to the second or whatever `timespec` says."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
