"""Marks in a field's `Annotated` that its JSON needs in addition to the type."""

from __future__ import annotations

from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from vault_indexer.errors import UsageError

Marks = tuple[object, ...]

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
"""The Python types that exist in JSON, with their JSON names."""


class Digits(NamedTuple):
    """Rounds a number to `digits` digits after the point, within optional bounds."""

    digits: int
    bounds: tuple[float, float] | None = None


class Key(NamedTuple):
    """Another name for the field in the JSON."""

    name: str


class Words(NamedTuple):
    """The two words for a boolean in a request."""

    no: str
    yes: str


class Says(NamedTuple):
    """The meaning of a parameter and its allowed values; `above` is an exclusive `minimum`.

    `holds` is the kind of a text: "query" or "note" (the name of a note), each limited in bytes, or
    "strategy" (a chunking strategy, which a shell can complete); "" for any other text.
    """

    help: str
    holds: Literal["", "query", "note", "strategy"] = ""
    minimum: int | None = None
    above: int | None = None
    maximum: int | None = None
    min_chars: int | None = None
    max_chars: int | None = None


class ChosenKeys(NamedTuple):
    """Limits the objects of a list to the keys in another field of the answer (None: all keys)."""

    by: str


HIDDEN = "hidden"
"""The field is not in the JSON."""

OMIT_EMPTY = "omit empty"
"""The key is missing if the value is empty. Otherwise it is sent, whatever keys a request chooses."""

ON_REQUEST = "on request"
"""The key is sent only if a request chooses it by name."""

FLAT = "flat"
"""The keys of the object replace the field."""


def split_marks(kind: object) -> tuple[Any, Marks]:
    return (get_args(kind)[0], get_args(kind)[1:]) if get_origin(kind) is Annotated else (kind, ())


# Limits of requests. They are here because the daemon's client needs them and must start fast.

MAX_QUERY_BYTES = 4096
"""The maximum size of a query in bytes of UTF-8, whatever encoding the client uses."""

MAX_PATH_BYTES = 4096
"""PATH_MAX of Linux: no path of a file is longer."""

MAX_LIMIT = 200
"""The maximum number of entries in an answer."""

DEFAULT_MENTIONS = 50
"""The number of mentions without a given limit: each requires reading a note."""

MAX_PAUSE_S = 7 * 86_400
"""The longest pause: one week. A pause without a duration lasts until `resume`."""


def check_query(query: str, *, may_be_empty: bool = False) -> None:
    """Raises UsageError for a query that is too long, or empty (allowed while the user is typing)."""
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
        raise UsageError(f"{what} has {size} bytes: the maximum is {allowed}")
