"""Numbers with their nouns."""

from __future__ import annotations


def quantity(number: int, noun: str) -> str:
    """`1 change`, `2 changes`, `12,345 changes`; for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
