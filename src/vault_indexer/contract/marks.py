"""What the JSON of a field needs in addition to its type. It is in the field's `Annotated`."""

from __future__ import annotations

from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from vault_indexer.errors import UsageError

Marks = tuple[object, ...]

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
"""The types of Python that JSON has, by its names."""


class Digits(NamedTuple):
    """A number is rounded to `digits` digits after the point, and kept within bounds where they are given."""

    digits: int
    bounds: tuple[float, float] | None = None


class Key(NamedTuple):
    """The field has another name in the JSON."""

    name: str


class Words(NamedTuple):
    """A truth value is one of two words in a request."""

    no: str
    yes: str


class Says(NamedTuple):
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


class ChosenKeys(NamedTuple):
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


# How long a query, the name of a note, a list and a pause may be. Light: the daemon's client needs them.


MAX_QUERY_BYTES = 4096
"""A query has at most this many bytes of UTF-8, however it was encoded on its way here."""

MAX_PATH_BYTES = 4096
"""PATH_MAX of Linux: no file has a longer path."""

MAX_LIMIT = 200
"""Entries of an answer at most."""

DEFAULT_MENTIONS = 50
"""Mentions where no limit is given: each costs reading a note."""

MAX_PAUSE_S = 7 * 86_400
"""A pause with an end is at most a week; one without is ended by `resume`."""


def check_query(query: str, *, may_be_empty: bool = False) -> None:
    """Raises UsageError for a query that is too long, or empty unless that is allowed (while typing)."""
    if not (query.strip() or may_be_empty):
        raise UsageError("the query is empty: give at least one word")
    _check_size("the query", query, MAX_QUERY_BYTES)


def check_note_name(name: str) -> None:
    """Raises UsageError for a path or name of a note that is empty or too long."""
    if not name.strip():
        raise UsageError("no note is named: give its path or name")
    _check_size("the path of the note", name, MAX_PATH_BYTES)


def _check_size(what: str, text: str, allowed: int) -> None:
    size = len(text.encode("utf-8", "replace"))
    if size > allowed:
        raise UsageError(f"{what} has {size} bytes: at most {allowed} are allowed")
