"""Deletions are believed late: first held, and in numbers only when a second look agrees.

A save by rename makes a note vanish for a moment; an unmounted disk makes all of them vanish at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from vault_indexer.vault.files import RootIdentity

CONFIRM_AFTER_S = 2.0
"""Seconds that must lie between two looks for the second to confirm the first."""

_MANY = 20
_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class VaultObservation:
    """What one look at the vault says of the files the index holds.

    `root` is None if the root is missing or unreadable, with the reason in `error`. `known` counts the files
    in the catalog, `gone` those of them that the scan did not find and vouches for. `at` is monotonic time.
    """

    root: RootIdentity | None
    known: int
    gone: int
    at: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class DeletionDecision:
    """`ok`: the deletions may be carried out. Else delete nothing, keep serving, and show `reason`."""

    ok: bool
    reason: str = ""


def assess_deletions(
    observation: VaultObservation, home: RootIdentity | None, earlier: VaultObservation | None
) -> DeletionDecision:
    """Whether the deletions of an observation can be believed.

    `home` is the root that the index was last in step with (None: never), `earlier` the last one that was
    not believed (None: none since). A missing root is never believed. A vault that is suddenly empty, has
    lost over 90% of 20 or more files at once, or has lost files and become another folder, is believed when
    an `earlier` one, at least CONFIRM_AFTER_S before, saw the same folder and the same losses or more.
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
        """Record that the path is gone; of several calls the first counts."""
        self._due.setdefault(path, self._clock() + self._hold_s)

    def drop(self, path: str) -> None:
        self._due.pop(path, None)

    def next_due(self) -> float | None:
        """When (on the clock) the earliest becomes due; None if nothing is held."""
        return min(self._due.values(), default=None)

    def take_due(self) -> tuple[str, ...]:
        """The paths whose time has come, sorted; they are held no longer."""
        now = self._clock()
        due = sorted(path for path, at in self._due.items() if at <= now)
        for path in due:
            del self._due[path]
        return tuple(due)
