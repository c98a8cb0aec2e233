"""How long a query may run, and how much text its filters may read."""

from __future__ import annotations

import time
from collections.abc import Callable

from vault_indexer.errors import QueryCancelledError, QueryTimeoutError

MAX_WORK_NS = 500_000_000
"""What the filters of one query may cost, in nanoseconds by the estimates of `filters.costs`.

An estimate, not a clock: the same query gives the same answer on a machine that is slow or busy. It is
enough to look once through some 50 million characters. Only a filter comes this far that no
words of the index narrow (`/日本|中国/`), or one of which each of very many notes needs a close look:
`line:(/the$/ -the)`.
"""


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


class WorkBudget:
    """Counts what the filters of one query have cost; not thread-safe, as each query has its own."""

    def __init__(self, work_ns: int = MAX_WORK_NS) -> None:
        self._most = work_ns
        self.spent_ns = 0

    def spend(self, work_ns: int) -> None:
        """Count some work, in nanoseconds."""
        self.spent_ns += work_ns

    @property
    def is_spent(self) -> bool:
        """Whether the filters should check no further note."""
        return self.spent_ns > self._most
