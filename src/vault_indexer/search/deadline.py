"""Limits of a query: its running time, and the amount of text that its filters read."""

from __future__ import annotations

import time
from collections.abc import Callable

from vault_indexer.errors import QueryCancelledError, QueryTimeoutError

MAX_CHARACTERS = 200_000_000
"""The reading limit of the filters of one query, in characters. Each character that is read and then searched
once counts twice.

The limit is in characters, not seconds, so that a query ends at the same note on every machine. In a vault of
16,593 notes and 60 million characters, `/日本|中国/` reads all of them in 0.6 s of processor time (two shared
cores, 2026-11-28). A filter that requires a detailed check of very many notes reaches the limit later:
`line:(/the$/ -the)` took 4.4 s.
"""

LOOK = 1_000
"""The cost of fetching a text, or of starting a search of it or of a piece of it, in characters read."""

RENDERED = 40
"""The cost of removing the markup, per character, in characters read."""

PARSED = 140
"""The cost of parsing, per character, in characters read."""


def never() -> bool:
    """The `is_cancelled` of a query that its caller waits for in any case."""
    return False


class QueryDeadline:
    """Ends a query that runs too long, or whose caller has disconnected.

    The caller that starts a query creates its deadline and passes it on. Loops of the search call `check()`,
    which costs less than a microsecond. `is_cancelled` is called in the query's thread and may read a flag
    that another thread sets.
    """

    def __init__(self, seconds: float, is_cancelled: Callable[[], bool] = never) -> None:
        self._seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._is_cancelled = is_cancelled

    def check(self) -> None:
        """Raises QueryCancelledError or QueryTimeoutError if the query must end."""
        if self._is_cancelled():
            raise QueryCancelledError("the search was cancelled")
        if time.monotonic() > self._ends_at:
            raise QueryTimeoutError(f"the search took longer than {self._seconds:g} seconds and was stopped")


class ReadingBudget:
    """Counts the characters that the filters of one query read. Each query has its own, in one thread."""

    def __init__(self, characters: int = MAX_CHARACTERS) -> None:
        self._most = characters
        self.spent = 0

    def spend(self, characters: int) -> None:
        self.spent += characters

    @property
    def is_spent(self) -> bool:
        return self.spent > self._most
