"""Delays deletions: each is held back at first, and mass deletions need the confirmation of a second scan.

A save by rename makes a note vanish for a moment, and an unmounted disk makes all of them vanish at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from vault_indexer.vault.files import RootIdentity

CONFIRM_AFTER_S = 2.0
"""The minimum interval in seconds between a scan and the scan that confirms it."""

_MANY = 20
_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class VaultObservation:
    """The result of one scan with respect to the files in the index.

    `root` is None if the root is missing or unreadable, with the reason in `error`. `known` counts the files
    in the catalog, and `gone` those that the scan covers but did not find. `at` is monotonic time.
    """

    root: RootIdentity | None
    known: int
    gone: int
    at: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class DeletionDecision:
    """`ok`: the deletions may be carried out. Otherwise nothing is deleted, and the user sees `reason`."""

    ok: bool
    reason: str = ""


def assess_deletions(
    observation: VaultObservation, home: RootIdentity | None, earlier: VaultObservation | None
) -> DeletionDecision:
    """Decide whether the deletions of an observation are plausible.

    `home` is the root with which the index was last synchronized (None: never). `earlier` is the last
    implausible observation (None: none since). A missing root is never plausible. Three cases need
    confirmation: the vault is suddenly empty, has lost over 90% of 20 or more files at once, or has lost
    files and is a different folder. An `earlier` observation confirms them if it is at least CONFIRM_AFTER_S
    old and saw the same folder and at least the same number of losses.
    """
    if observation.root is None:
        return DeletionDecision(ok=False, reason=observation.error or "the vault cannot be read")
    doubt = _doubt(observation, home)
    if not doubt or _confirms(observation, earlier):
        return DeletionDecision(ok=True)
    return DeletionDecision(ok=False, reason=f"{doubt}. The index is kept.")


def _doubt(observation: VaultObservation, home: RootIdentity | None) -> str:
    if observation.gone == 0:
        return ""
    if observation.gone >= observation.known:
        return f"the vault looks empty ({observation.known} files expected)"
    if observation.known >= _MANY and observation.gone > _SHARE * observation.known:
        return f"{observation.gone} of {observation.known} files are gone at once"
    if home is not None and observation.root != home:
        return f"the vault is another folder or disk than before, and {observation.gone} files are gone"
    return ""


def _confirms(observation: VaultObservation, earlier: VaultObservation | None) -> bool:
    return (
        earlier is not None
        and earlier.root == observation.root
        and earlier.gone >= observation.gone
        and observation.at - earlier.at >= CONFIRM_AFTER_S
    )


class DeleteHold:
    """Vanished paths, each with the time at which its deletion becomes due. Not thread-safe."""

    def __init__(self, hold_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._hold_s = hold_s
        self._clock = clock
        self._due: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, path: str) -> bool:
        return path in self._due

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self._due)

    def hold(self, path: str) -> None:
        """Record that the path has vanished. Later calls for the same path do not change its due time."""
        self._due.setdefault(path, self._clock() + self._hold_s)

    def drop(self, path: str) -> None:
        self._due.pop(path, None)

    def next_due(self) -> float | None:
        """Return the time (on the clock) at which the earliest deletion is due; None if none is held."""
        return min(self._due.values(), default=None)

    def take_due(self) -> tuple[str, ...]:
        """Remove and return the paths that are due, sorted."""
        now = self._clock()
        due = sorted(path for path, at in self._due.items() if at <= now)
        for path in due:
            del self._due[path]
        return tuple(due)
