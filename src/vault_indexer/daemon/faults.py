"""What is wrong with indexing at the moment, shown with each answer until it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from vault_indexer.errors import DiskFullError, IndexUnusableError


class Cause(Enum):
    """Where a fault comes from. Each ends by itself: the end of one says nothing about the others."""

    CONFIG = "config"
    """The configuration was changed and cannot be used. Ends when it is read without a mistake."""

    RESTART = "restart"
    """A key was changed that counts from the start of the daemon. Ends when it is changed back."""

    EXCLUSIONS = "exclusions"
    """An exclusion in the vault is not understood. Ends when all of them are."""

    INDEX_GONE = "index gone"
    """The index folder or a part of it was deleted. Ends when the index was built again."""

    BUILD = "build"
    """A rebuild that is needed failed. Ends when one succeeds, or when none is needed any more."""

    UNFIT = "unfit"
    """What was built does not fit this program. Ends as BUILD does."""

    INDEXING = "indexing"
    """A step failed. Ends when the whole vault was looked at, and the index follows it, without an error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One line for the user. With `degraded` the index cannot be written at all."""

    text: str
    degraded: bool = False


class ActiveFaults:
    """At most one fault for each cause. The daemon's loop begins and ends them; any thread reads.

    The order is that of `Cause`, whichever began first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[Cause, Fault] = {}

    def begin(self, cause: Cause, text: str, *, degraded: bool = False) -> bool:
        """A fault begins, or takes the place of the one of its cause. Returns whether that is news."""
        fault = Fault(" ".join(text.split()), degraded)
        with self._lock:
            before = self._active.get(cause)
            self._active[cause] = fault
        return before != fault

    def begin_with(self, cause: Cause, what: str, error: Exception) -> bool:
        """The same with "`what`: the error"; an index that cannot be written is degraded."""
        lines = "; ".join(line.strip() for line in str(error).splitlines())
        unwritable = isinstance(error, DiskFullError | IndexUnusableError)
        return self.begin(cause, f"{what}: {lines or type(error).__name__}", degraded=unwritable)

    def end(self, *causes: Cause) -> None:
        with self._lock:
            for cause in causes:
                self._active.pop(cause, None)

    def get(self, cause: Cause) -> str:
        """The fault of a cause ("" where there is none)."""
        with self._lock:
            fault = self._active.get(cause)
        return fault.text if fault else ""

    @property
    def texts(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._active[cause].text for cause in Cause if cause in self._active)

    def any_degraded(self) -> bool:
        """Whether the index cannot be written."""
        with self._lock:
            return any(fault.degraded for fault in self._active.values())


# Whether changes that are pending make progress.


class StallWatch:
    """Knows since when the number of pending changes has not gone down.

    The daemon's loop tells each number it sees. A loop that hangs tells none, and so makes no progress.
    Any thread may ask. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = 0
        self._since = clock()

    def observe(self, pending: int) -> None:
        """Note how many changes are pending now: 0 where indexing has rested, when none had to move."""
        if not pending or pending < self._last:
            self._since = self._clock()
        self._last = pending

    def stalled_s(self) -> float:
        """Seconds without progress, or 0 while they are fewer than `STALLED_S`."""
        seconds = self._clock() - self._since
        return seconds if seconds >= STALLED_S else 0.0
