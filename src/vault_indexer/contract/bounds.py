"""How long a query, the name of a note, a list and a pause may be. Light: the daemon's client needs them."""

from __future__ import annotations

from vault_indexer.errors import UsageError

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
