"""What the JSON of a field needs in addition to its type. It is in the field's `Annotated`."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

Marks = tuple[object, ...]

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
"""The types of Python that JSON has, by its names."""


@dataclass(frozen=True, slots=True)
class Digits:
    """A number is rounded to `digits` digits after the point, and kept within bounds where they are given."""

    digits: int
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """The field has another name in the JSON."""

    name: str


@dataclass(frozen=True, slots=True)
class Words:
    """A truth value is one of two words in a request."""

    no: str
    yes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """What a parameter means and which values it takes; `above` is as `minimum`, but exclusive.

    `holds` says what a text means: a query or the name of a note, each with a bound in bytes; the name of a
    chunking strategy, which a shell completes; "" for any other.
    """

    help: str
    holds: Literal["", "query", "note", "strategy"] = ""
    minimum: int | None = None
    above: int | None = None
    maximum: int | None = None
    min_chars: int | None = None
    max_chars: int | None = None


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


def split_marks(kind: object) -> tuple[Any, Marks]:
    """A type and its marks."""
    return (get_args(kind)[0], get_args(kind)[1:]) if get_origin(kind) is Annotated else (kind, ())
