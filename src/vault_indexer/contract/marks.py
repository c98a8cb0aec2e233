"""What the JSON of a field needs beside its type. It stands in `Annotated`, beside the field."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Digits:
    """A number is rounded to so many digits after the point, and kept within bounds where they are given."""

    digits: int
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """The field has another name in the JSON."""

    name: str


@dataclass(frozen=True, slots=True)
class ChosenKeys:
    """Of each object of the list only the keys are sent that another field of the answer has (None: all)."""

    by: str


HIDDEN = "hidden"
"""The field is not in the JSON."""

OMIT_EMPTY = "omit empty"
"""The key is missing where the value is empty; else it is there, whatever keys a request chooses."""

ON_REQUEST = "on request"
"""The key is there only if a request chooses it by its name."""

FLAT = "flat"
"""The keys of the object stand in place of the field."""
