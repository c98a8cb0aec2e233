"""Many hints become few batches: a state machine without threads and without a clock of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault.ignore import CONTROL_FILES

_FEW = 64
"""What is saved while thousands of files are indexed: people's saves, and some of what else goes on."""

_LONG_S = 2.0
_EARLY_EVERY_S = 1.0
"""Hints that have gone on for `_LONG_S` are a storm: from then on the last few files are taken before it
ends, once in `_EARLY_EVERY_S`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What to look at now. Everything in it is a hint: `scan(within=batch.scope)` finds out what is true.

    `control` names the rule and configuration files (see CONTROL_FILES) that may have changed: all of them
    with `scan_all`, for whatever was missed may have been an edit of the rules. `first` are the files saved
    last, where there is much more: a user who has just saved one does not wait for the rest.
    """

    dirty: frozenset[str] = frozenset()
    scan_folders: frozenset[str] = frozenset()
    scan_all: bool = False
    control: frozenset[str] = frozenset()
    reason: str = ""
    first: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def scope(self) -> frozenset[str]:
        """The vault paths to scan, for `scan(within=…)`."""
        return frozenset({""}) if self.scan_all else self.dirty | self.scan_folders


class Coalescer:
    """Collects hints until the vault has been quiet for `debounce_s`, at most for `max_wait_s`.

    `now` is monotonic seconds, and never goes back. More than `full_scan_threshold` paths become a scan of
    all, more than `folder_scan_threshold` in one folder a scan of that folder, so that memory stays bounded.
    """

    def __init__(self, settings: WatchSettings) -> None:
        self._settings = settings
        self._early_after = 0.0
        self._clear()

    def _clear(self) -> None:
        self._dirty: set[str] = set()
        self._folders: set[str] = set()
        self._control: set[str] = set()
        self._reasons: dict[str, None] = {}
        self._first: float | None = None
        self._last = 0.0
        self._urgent = False
        self._newest: dict[str, float] = {}

    def add(self, path: str, now: float) -> None:
        """A file may have changed, appeared or gone."""
        self._touch(now)
        self._newest.pop(path, None)
        self._newest[path] = now
        if len(self._newest) > _FEW:
            del self._newest[next(iter(self._newest))]
        if not self._reasons:
            self._dirty.add(path)
            if len(self._dirty) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} files changed", now)

    def add_control(self, path: str, now: float) -> None:
        """A file that holds rules or configuration may have changed."""
        self._touch(now)
        self._control.add(path)

    def scan_folder(self, folder: str, now: float) -> None:
        """Anything at or below the folder may have changed."""
        self._touch(now)
        if not self._reasons:
            self._folders.add(folder)
            if len(self._folders) > self._settings.full_scan_threshold:
                self.scan_all(f"more than {self._settings.full_scan_threshold} folders changed", now)

    def scan_all(self, reason: str, now: float) -> None:
        """Anything may have changed."""
        self._touch(now)
        self._reasons[reason] = None
        self._dirty.clear()
        self._folders.clear()

    def flush(self) -> None:
        """Somebody waits for what is pending: it is due now."""
        self._urgent = True

    def _touch(self, now: float) -> None:
        if self._first is None:
            self._first = now
        self._last = now

    @property
    def pending(self) -> int:
        """Paths and folders that wait; a scan of all counts as one."""
        return len(self._dirty) + len(self._folders) + len(self._control) + bool(self._reasons)

    def due(self) -> float | None:
        """When the next batch may be taken; None if nothing waits."""
        if self._first is None:
            return None
        if self._urgent:
            return self._first
        quiet = self._last + self._settings.debounce_s
        return min(quiet, self._first + self._settings.max_wait_s)

    def take(self, now: float) -> Batch | None:
        """The batch, if it is due."""
        due = self.due()
        if due is None or due > now:
            self._urgent = False  # nothing is waiting
            return None
        crowded = _crowded_folders(self._dirty, self._settings.folder_scan_threshold)
        folders = self._folders | crowded
        if "" in folders:
            self.scan_all("many files changed", now)
            folders = set()
        batch = Batch(
            dirty=frozenset(path for path in self._dirty if path.rpartition("/")[0] not in crowded),
            scan_folders=frozenset(folders),
            scan_all=bool(self._reasons),
            control=CONTROL_FILES if self._reasons else frozenset(self._control),
            reason="; ".join(self._reasons) or "files changed",
            first=frozenset(self._newest)
            if self._reasons or folders or len(self._dirty) > _FEW
            else frozenset(),
        )
        self._clear()
        return batch

    def pop_batch(self, now: float) -> frozenset[str]:
        """The files that were saved last and have been quiet since, before all else; none where rules have
        changed, which may exclude them. What else waits goes on waiting."""
        if self._control:
            return frozenset()
        quiet = now - self._settings.debounce_s
        few = frozenset(path for path, last in self._newest.items() if last <= quiet)
        self._newest = {path: last for path, last in self._newest.items() if path not in few}
        self._dirty -= few
        if not (self._dirty or self._folders or self._reasons):
            self._clear()
        return few

    def take_early(self, now: float) -> Batch | None:
        """The same as a batch, where hints have not paused for long: else a save would wait for them."""
        if self._first is None or now < max(self._first + _LONG_S, self._early_after):
            return None
        few = self.pop_batch(now)
        if not few:
            return None
        self._early_after = now + _EARLY_EVERY_S
        return Batch(dirty=few, reason="files changed")


def _crowded_folders(paths: Iterable[str], threshold: int) -> set[str]:
    """The folders that directly hold more than `threshold` of the paths."""
    counts = Counter(path.rpartition("/")[0] for path in paths)
    return {folder for folder, count in counts.items() if count > threshold}
