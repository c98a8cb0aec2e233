"""Notes that ended their worker, and when each is read again: another fault may have done it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

_FIRST_S = 2.0
_LATEST_S = 3600.0

Change = tuple[int, str]
"""`mtime_ns` and digest: two saves may have the same time."""


@dataclass(slots=True)
class _Wait:
    """`seconds` is the wait that ends at `until`; the next is twice as long. `change`: time and digest of
    what was set aside. `tried`: the note was read again since. `at_fault`: it was set aside though
    another note was indexed."""

    change: Change
    until: float
    seconds: float
    tried: bool = False
    at_fault: bool = False


class Quarantine:
    """The dirty set has one. The wait for a note begins with `first_s` seconds and doubles up to an hour; the
    first time that another note is indexed meanwhile ends it. One thread uses it; any may read `untried`."""

    def __init__(self, clock: Callable[[], float], first_s: float = _FIRST_S) -> None:
        self.untried = 0
        """How many notes were set aside and not read again since."""
        self._clock = clock
        self._first_s = first_s
        self._waits: dict[str, _Wait] = {}

    def use(self, changes: Mapping[str, Change], *, tried: bool = False) -> None:
        """These are set aside now that something was indexed, each with the change that was. If
        none of them is new, it was another note. `tried`: the new ones are known from an earlier run."""
        now = self._clock()
        known = {path: wait for path, wait in self._waits.items() if changes.get(path) == wait.change}
        if len(known) == len(changes):
            for wait in known.values():
                wait.until, wait.at_fault = wait.until if wait.at_fault else now, True
        self._waits = {
            path: known.get(path) or _Wait(change, now + self._first_s, self._first_s, tried)
            for path, change in changes.items()
        }
        self._count()

    def next_due(self) -> str | None:
        """The note to read now; None while each has to wait."""
        path = min(self._waits, key=lambda name: self._waits[name].until, default=None)
        if path is None or self._clock() < self._waits[path].until:
            return None
        wait = self._waits[path]
        wait.seconds = min(2 * wait.seconds, _LATEST_S)
        wait.until = self._clock() + wait.seconds
        return path

    def record_try(self, path: str) -> None:
        """The note was read again."""
        if path in self._waits:
            self._waits[path].tried = True
        self._count()

    def _count(self) -> None:
        self.untried = sum(not wait.tried for wait in self._waits.values())
