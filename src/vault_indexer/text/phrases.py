"""Numbers with their nouns, and lists of names, as a person says them."""

from __future__ import annotations

from collections.abc import Iterable


def quantity(number: int, noun: str) -> str:
    """`1 change`, `2 changes`, `12,345 changes`; for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def which_vault(names: Iterable[str]) -> str:
    """The answer to a command that works on one vault and names none of several."""
    options = [f"--vault {name}" for name in names]
    listed = " or ".join([", ".join(options[:-1]), options[-1]] if len(options) > 1 else options)
    return f"Which vault? Add {listed or '--vault DIR'}."
