"""Edits that failed, and when each is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

_FIRST_S = 3.0
_LATEST_S = 60.0
_SHARE = 10.0
"""A try that fails is followed by a wait ten times as long as it took: what keeps failing takes a tenth of
the time."""


@dataclass(slots=True)
class _Wait:
    """The next try is at `due`. `at_fault`: something else was indexed since these paths failed, so that the
    failure is their own."""

    due: float
    at_fault: bool = False


class FailedEdits:
    """The vault paths that could not be indexed, in the groups in which they are tried again.

    The dirty set owns it. A group waits `first_s` seconds, or ten times as long as its try took, up to a
    minute; the wait does not grow with the number of tries. While nothing succeeds, one group is tried at a
    time. The first success makes one group of all paths, due at once. A group that fails then contains paths
    that fail by themselves: it is halved until they are alone, so that no other note waits for them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, first_s: float = _FIRST_S) -> None:
        self._clock = clock
        self._first_s = first_s
        self._groups: dict[frozenset[str], _Wait] = {}
        self._not_before = 0.0

    def __len__(self) -> int:
        """How many paths; the whole vault ("") counts as one."""
        return sum(map(len, self._groups))

    @property
    def paths(self) -> frozenset[str]:
        """All of them."""
        return frozenset[str]().union(*self._groups)

    def fail(self, scope: Collection[str], seconds: float = 0.0) -> None:
        """Record that these paths failed, after a try of so many seconds: new ones, or a group that was
        due."""
        paths, now = frozenset(scope), self._clock()
        wait = min(max(self._first_s, _SHARE * seconds), _LATEST_S)
        before = self._groups.pop(paths, None)
        if before is None:
            self._groups[paths - self._isolated] = _Wait(now + wait)
            self._groups.pop(frozenset(), None)
            return
        if not before.at_fault:
            self._not_before = now + wait
        due = now if before.at_fault and len(paths) > 1 else now + wait
        for half in _halves(paths):
            self._groups[half] = _Wait(due, before.at_fault)

    def drop(self, scope: Collection[str], kept: Collection[str] = ()) -> None:
        """Record that these paths ("": all) are as they are indexed, but for those that are `kept`."""
        paths = (self.paths if "" in scope else frozenset(scope)).difference(kept)
        left = {group - paths: wait for group, wait in self._groups.items()}
        left.pop(frozenset(), None)
        self._groups = left

    def retry_all(self) -> None:
        """Record that something was indexed: all that failed before that is due now, once."""
        shared = frozenset[str]().union(*(group for group, wait in self._groups.items() if not wait.at_fault))
        self._groups = {group: wait for group, wait in self._groups.items() if wait.at_fault}
        self._not_before = 0.0
        if shared - self._isolated:
            self._groups[shared - self._isolated] = _Wait(self._clock(), at_fault=True)

    def next_due(self) -> frozenset[str] | None:
        """The group to try now; None while each has to wait. `fail` or `drop` records what became of it."""
        now = self._clock()
        for group, wait in self._groups.items():
            if wait.due <= now and (wait.at_fault or self._not_before <= now):
                return group
        return None

    @property
    def _isolated(self) -> frozenset[str]:
        """The paths that are known to fail by themselves."""
        alone = (group for group, wait in self._groups.items() if wait.at_fault and len(group) == 1)
        return frozenset[str]().union(*alone)


def _halves(paths: frozenset[str]) -> list[frozenset[str]]:
    ordered = sorted(paths)
    middle = (len(ordered) + 1) // 2
    return [frozenset(half) for half in (ordered[:middle], ordered[middle:]) if half]
