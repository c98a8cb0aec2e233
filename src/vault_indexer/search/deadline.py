"""How long a query may run, and how much text its filters may read."""

from __future__ import annotations

import time
from collections.abc import Callable

from vault_indexer.errors import QueryCancelledError, QueryTimeoutError

MAX_CHARACTERS = 200_000_000
"""What the filters of one query may read, in characters: reading a text and looking through it once is two.

Characters and no clock, so that a query ends at the same note on every machine. They take half a second to
a second (RE2 reads 1 to 2 ns a byte, decompressing takes 4). Only a filter that no words of the index narrow
comes this far (`/日本|中国/`), or one for which very many notes need a close look: `line:(/the$/ -the)`.
"""

LOOK = 1_000
"""Each look takes as long as reading this number of characters: fetching a text, beginning to search it or a
piece of it."""

RENDERED = 40
"""Leaving the markup out of one character, likewise."""

PARSED = 140
"""Parsing one character, likewise."""


class QueryDeadline:
    """Ends a query that runs too long, or whose caller has gone.

    The caller that starts a query makes one and passes it on. Loops of the search call `check()`, which costs
    less than a microsecond. `is_cancelled` is called in the query's thread and may look at what another
    thread sets.
    """

    def __init__(self, seconds: float, is_cancelled: Callable[[], bool] = lambda: False) -> None:
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
    """Counts the characters that the filters of one query read. Not thread-safe: each query has its own."""

    def __init__(self, characters: int = MAX_CHARACTERS) -> None:
        self._most = characters
        self.spent = 0

    def spend(self, characters: int) -> None:
        self.spent += characters

    @property
    def is_spent(self) -> bool:
        """Whether the filters should check no further note."""
        return self.spent > self._most
